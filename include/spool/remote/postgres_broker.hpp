// postgres_broker: jobs in PostgreSQL, for the processes of many machines.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "spool/base/deadline.hpp"
#include "spool/remote/broker.hpp"

struct pg_conn;  // libpq's PGconn

namespace spool::inline v1::remote {

struct postgres_options {
    /// libpq's connection string, best without secrets: "service=jobs", with the password in the
    /// service file, a .pgpass file or the environment. Host, TLS and authentication are libpq's.
    std::string connection = {};
    /// False behind a pooler in transaction mode, such as PgBouncer: no LISTEN and no session
    /// locks. Then leases and polling decide, and recovery from a crash takes a lease.
    bool session = true;
    /// How long one call may take before the connection is given up.
    duration_setting call_timeout = std::chrono::seconds{10};
};

/// A broker in the schema `spool` of a PostgreSQL database. Run migrate_postgres() or
/// `spool remote migrate` once before. The constructor does not connect: a server that is away is a
/// broker_error of the first call.
///
/// Wake-ups use LISTEN and NOTIFY. A worker holds an advisory lock in a session; when the session
/// is gone for a second, other workers take its jobs.
[[nodiscard]] SPOOL_API std::shared_ptr<broker> postgres(postgres_options options);
[[nodiscard]] SPOOL_API std::shared_ptr<broker> postgres(std::string connection);

/// Brings the schema to this program's version, in one transaction, under a lock. Does nothing if
/// it is there. Answers the version. \throws broker_error: wrong_version if the schema is newer
SPOOL_API int migrate_postgres(const postgres_options& options);

/// Adds jobs in a transaction of yours: they exist if and when it commits. Make them with
/// executor::prepare(). \throws broker_error; the transaction is then aborted
SPOOL_API std::vector<put_result> put_in(pg_conn* connection, std::span<const new_job> jobs);
/// Finishes the job that runs on this thread in a transaction of yours, so that its effects and its
/// outcome commit together. `result` is encode()'s. Then calls this_job::mark_finished().
/// \throws broker_error if the lease is lost: roll back
SPOOL_API void finish_in(pg_conn* connection, bytes result);

}  // namespace spool::inline v1::remote
