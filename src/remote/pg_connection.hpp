// A connection to PostgreSQL, parameters and results in the binary format. Every failure is a
// broker_error; no call waits longer than its time-out.
#pragma once

#include <libpq-fe.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spool/base/deadline.hpp"
#include "spool/remote/error.hpp"
#include "spool/remote/job.hpp"

namespace spool::inline v1::remote::detail {

/// The parameters of one call. Payloads are never part of the SQL text.
class pg_parameters {
public:
    pg_parameters& add(std::int32_t value);
    pg_parameters& add(std::int64_t value);
    pg_parameters& add(double value);
    pg_parameters& add(bool value);
    pg_parameters& add(std::string_view text);
    pg_parameters& add(const job_id& id);
    pg_parameters& add_null();
    pg_parameters& add(const std::vector<std::int32_t>& values);
    pg_parameters& add(const std::vector<std::int64_t>& values);
    pg_parameters& add(const std::vector<std::string_view>& values);
    pg_parameters& add(const std::vector<job_id>& values);
    pg_parameters& add(const std::vector<std::span<const std::uint8_t>>& values);

private:
    friend class pg_connection;
    void finish(Oid type, std::size_t start);
    template <class T, class Write>
    pg_parameters& add_array(Oid array_type, Oid type, const std::vector<T>& values, Write write);

    bytes data_;
    struct slice {
        Oid type;
        std::size_t start;
        int size;
        bool is_null;
    };
    std::vector<slice> values_;
};

class pg_result {
public:
    explicit pg_result(PGresult* result) : result_(result, &PQclear) {}
    [[nodiscard]] int rows() const { return PQntuples(result_.get()); }
    [[nodiscard]] bool is_null(int row, int column) const {
        return PQgetisnull(result_.get(), row, column) != 0;
    }
    /// Of any integer or boolean type.
    [[nodiscard]] std::int64_t integer(int row, int column) const;
    [[nodiscard]] double real(int row, int column) const;
    [[nodiscard]] std::string text(int row, int column) const;
    [[nodiscard]] bytes blob(int row, int column) const;
    [[nodiscard]] job_id id(int row, int column) const;
    [[nodiscard]] PGresult* get() const { return result_.get(); }

private:
    std::unique_ptr<PGresult, decltype(&PQclear)> result_;
};

/// One thread at a time.
class pg_connection {
public:
    /// Connects. \throws broker_error
    pg_connection(const std::string& connection, std::chrono::nanoseconds timeout);
    /// Borrows a connection of the user's.
    explicit pg_connection(PGconn* borrowed);

    /// Runs one statement, prepared on first use. \throws broker_error
    pg_result call(const char* sql, const pg_parameters& parameters = {});
    /// Runs a script without parameters.
    void script(const char* sql);
    [[nodiscard]] bool is_usable() const {
        return is_usable_ && PQstatus(connection_.get()) == CONNECTION_OK;
    }
    [[nodiscard]] PGconn* get() const { return connection_.get(); }
    [[nodiscard]] int socket() const { return PQsocket(connection_.get()); }

private:
    [[nodiscard]] pg_result wait_for_result(const char* what);
    void wait_for_socket(short events, deadline until, const char* what);
    [[noreturn]] void fail(const char* what, const PGresult* result = nullptr);

    std::unique_ptr<PGconn, void (*)(PGconn*)> connection_;
    std::chrono::nanoseconds timeout_;
    bool is_usable_ = true;
};

}  // namespace spool::inline v1::remote::detail
