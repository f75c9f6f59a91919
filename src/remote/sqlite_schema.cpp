#include <fcntl.h>
#include <sys/vfs.h>
#include <time.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "sqlite_broker.hpp"

namespace spool::inline v1::remote::detail {
namespace {

constexpr std::int64_t application_id = 0x53504f4f;  // "SPOO"

// States: 0 delayed, 1 queued, 2 running, 3 and more finished (see job_state). A delayed job is not
// among the ready ones, so a million of them cost a take nothing.
constexpr const char* schema = R"sql(
CREATE TABLE job (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id BLOB NOT NULL UNIQUE,
    queue TEXT NOT NULL,
    function TEXT NOT NULL,
    signature INTEGER NOT NULL,
    args BLOB NOT NULL,
    key TEXT,
    submitter TEXT NOT NULL,
    state INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    run_at INTEGER NOT NULL,
    attempt INTEGER NOT NULL DEFAULT 0,
    retries INTEGER NOT NULL,
    crashes INTEGER NOT NULL DEFAULT 0,
    crash_limit INTEGER NOT NULL,
    backoff INTEGER NOT NULL,
    time_limit INTEGER NOT NULL,
    keep INTEGER NOT NULL,
    worker TEXT NOT NULL DEFAULT '',
    fence INTEGER NOT NULL DEFAULT 0,
    lease_until INTEGER NOT NULL DEFAULT 0,
    cancel_requested INTEGER NOT NULL DEFAULT 0,
    finished_at INTEGER NOT NULL DEFAULT 0,
    done_number INTEGER NOT NULL DEFAULT 0,
    result BLOB,
    error_type TEXT NOT NULL DEFAULT '',
    error_text TEXT NOT NULL DEFAULT ''
);
CREATE INDEX job_ready ON job(queue, priority DESC, run_at, number) WHERE state = 1;
CREATE INDEX job_delayed ON job(queue, run_at) WHERE state = 0;
CREATE INDEX job_leases ON job(lease_until) WHERE state = 2;
CREATE UNIQUE INDEX job_keys ON job(queue, key) WHERE key IS NOT NULL AND state < 3;
CREATE INDEX job_done ON job(submitter, done_number) WHERE state >= 3;
CREATE INDEX job_expiry ON job(finished_at + keep) WHERE state >= 3;
CREATE INDEX job_stops ON job(worker) WHERE state = 2 AND cancel_requested = 1;
CREATE TABLE queue (
    name TEXT PRIMARY KEY,
    paused INTEGER NOT NULL,
    rate REAL NOT NULL,
    burst REAL NOT NULL,
    tokens REAL NOT NULL,
    filled_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE worker (id TEXT PRIMARY KEY, name TEXT NOT NULL, functions TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE clock (one INTEGER PRIMARY KEY CHECK (one = 1), boot TEXT NOT NULL, time_offset INTEGER NOT NULL,
    done_number INTEGER NOT NULL);
)sql";

std::int64_t read_clock(clockid_t which) {
    struct timespec t {};
    clock_gettime(which, &t);
    return static_cast<std::int64_t>(t.tv_sec) * 1'000'000 + t.tv_nsec / 1000;
}

std::string boot_id() {
    std::ifstream file{"/proc/sys/kernel/random/boot_id"};
    std::string id;
    std::getline(file, id);
    return id.empty() ? "unknown" : id;
}

void refuse_network_files(const std::string& file) {
    // NFS and the kinds of SMB.
    constexpr std::array<std::uint32_t, 4> network = {0x6969, 0xff534d42, 0xfe534d42, 0x517b};
    const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
    struct statfs info {};
    if (statfs(folder.c_str(), &info) == 0) {
        for (const std::uint32_t kind : network) {
            if (static_cast<std::uint32_t>(info.f_type) == kind) {
                throw broker_error(broker_failure::misuse,
                                   "sqlite broker \"" + file +
                                       "\": the file is on a network file system, "
                                       "whose locks are not reliable; use a local folder, or PostgreSQL");
            }
        }
    }
}

std::int64_t pragma(database& db, std::string_view sql) {
    query q = db.use(sql);
    return q.step() ? q.integer(0) : 0;
}

// The broker's time is the boot-time clock plus an offset that is fixed once per boot: every
// process
// reads the same time, and setting the date changes nothing. After a boot no lease can be alive.
std::int64_t settle_clock(database& db) {
    const std::string boot = boot_id();
    {
        query q = db.use("SELECT boot, time_offset FROM clock");
        if (q.step() && q.text(0) == boot) {
            return q.integer(1);
        }
    }
    std::int64_t latest = 0;
    {
        query q = db.use("SELECT coalesce(max(max(created_at, finished_at)), 0) FROM job");
        latest = q.step() ? q.integer(0) : 0;
    }
    const std::int64_t offset = std::max(read_clock(CLOCK_REALTIME), latest) - boot_time();
    db.use("INSERT INTO clock VALUES (1, ?, ?, 0) ON CONFLICT (one) DO UPDATE SET boot = excluded.boot, "
           "time_offset = excluded.time_offset")
        .bind(boot)
        .bind(offset)
        .run();
    db.exec("UPDATE job SET lease_until = 0 WHERE state = 2");
    return offset;
}

}  // namespace

std::int64_t boot_time() {
    return read_clock(CLOCK_BOOTTIME);
}

std::int64_t prepare_schema(database& db, const sqlite_options& options) {
    refuse_network_files(options.file);
    db.exec("PRAGMA journal_mode = WAL");
    db.exec(options.durability == durability::full ? "PRAGMA synchronous = FULL"
                                                   : "PRAGMA synchronous = NORMAL");
    transaction change{db};
    const std::int64_t version = pragma(db, "PRAGMA user_version");
    if (version == 0) {
        if (pragma(db, "SELECT count(*) FROM sqlite_schema") != 0) {
            throw broker_error(broker_failure::wrong_version,
                               "sqlite broker \"" + options.file + "\": the file belongs to another program");
        }
        db.exec(schema);
        db.exec(("PRAGMA user_version = " + std::to_string(sqlite_schema_version)).c_str());
        db.exec(("PRAGMA application_id = " + std::to_string(application_id)).c_str());
    } else if (pragma(db, "PRAGMA application_id") != application_id) {
        throw broker_error(broker_failure::wrong_version,
                           "sqlite broker \"" + options.file + "\": the file belongs to another program");
    } else if (version != sqlite_schema_version) {
        throw broker_error(
            broker_failure::wrong_version,
            "sqlite broker \"" + options.file + "\": its schema has version " + std::to_string(version) +
                ", this program has version " + std::to_string(sqlite_schema_version) +
                (version > sqlite_schema_version ? "; update the program" : "; run `spool remote migrate`"));
    }
    const std::int64_t offset = settle_clock(db);
    change.commit();
    return offset;
}

}  // namespace spool::inline v1::remote::detail
