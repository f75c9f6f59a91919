#include "sqlite_db.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <thread>

#include "fault_point.hpp"

namespace spool::inline v1::remote::detail {
namespace {

broker_failure failure_of(int code) noexcept {
    switch (code & 0xff) {
        case SQLITE_FULL: return broker_failure::out_of_space;
        case SQLITE_PERM:
        case SQLITE_AUTH:
        case SQLITE_READONLY: return broker_failure::denied;
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
        case SQLITE_IOERR:
        case SQLITE_CANTOPEN:
        case SQLITE_PROTOCOL:
        case SQLITE_INTERRUPT:
        case SQLITE_SCHEMA: return broker_failure::unavailable;
        default: return broker_failure::misuse;
    }
}

[[noreturn]] void fail(sqlite3* db, int code, const char* call) {
    if (code == SQLITE_NOMEM) {
        throw std::bad_alloc{};
    }
    const char* const file = db == nullptr ? nullptr : sqlite3_db_filename(db, nullptr);
    const bool is_own = db != nullptr && (sqlite3_errcode(db) & 0xff) == (code & 0xff);
    throw broker_error(failure_of(code), "sqlite broker \"" + std::string(file == nullptr ? "" : file) +
                                             "\": " + call + ": " +
                                             (is_own ? sqlite3_errmsg(db) : sqlite3_errstr(code)) +
                                             " (code " + std::to_string(code) + ")");
}

}  // namespace

query::~query() {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
}

void query::check(int code, const char* call) const {
    if (code != SQLITE_OK) {
        fail(db_, code, call);
    }
}

query& query::bind(std::int64_t value) {
    check(sqlite3_bind_int64(statement_, ++bound_, value), "bind");
    return *this;
}

query& query::bind_real(double value) {
    check(sqlite3_bind_double(statement_, ++bound_, value), "bind");
    return *this;
}

query& query::bind(std::string_view text) {
    check(sqlite3_bind_text64(statement_, ++bound_, text.data() == nullptr ? "" : text.data(), text.size(),
                              SQLITE_TRANSIENT, SQLITE_UTF8),
          "bind");
    return *this;
}

query& query::bind(std::span<const std::uint8_t> blob) {
    // An empty span may have a null pointer, which would bind NULL.
    check(blob.empty()
              ? sqlite3_bind_zeroblob(statement_, ++bound_, 0)
              : sqlite3_bind_blob64(statement_, ++bound_, blob.data(), blob.size(), SQLITE_TRANSIENT),
          "bind");
    return *this;
}

query& query::bind_null() {
    check(sqlite3_bind_null(statement_, ++bound_), "bind");
    return *this;
}

bool query::step() {
    const int code = fails_here("step") ? SQLITE_IOERR : sqlite3_step(statement_);
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        fail(db_, code, "step");
    }
    return code == SQLITE_ROW;
}

void query::run() {
    while (step()) {}
}

std::string query::text(int column) const {
    const auto* const data = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
    return data == nullptr ? std::string{} : std::string(data, size);
}

bytes query::blob(int column) const {
    const auto* const data = static_cast<const std::uint8_t*>(sqlite3_column_blob(statement_, column));
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
    return data == nullptr ? bytes{} : bytes(data, data + size);
}

job_id query::id(int column) const {
    job_id::value_type value{};
    const bytes data = blob(column);
    std::copy_n(data.begin(), std::min(data.size(), value.size()), value.begin());
    return job_id{value};
}

database::database(const std::string& file, std::chrono::nanoseconds busy_timeout)
    : busy_timeout_(busy_timeout) {
    const int flags =
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    const int code =
        fails_here("open") ? SQLITE_CANTOPEN : sqlite3_open_v2(file.c_str(), &db_, flags, nullptr);
    if (code != SQLITE_OK) {
        const std::string reason = sqlite3_errstr(code);
        sqlite3_close_v2(db_);
        throw broker_error(failure_of(code),
                           "sqlite broker \"" + file + "\": cannot open the file: " + reason);
    }
    sqlite3_busy_handler(db_, &database::on_busy, this);
}

database::~database() {
    for (const auto& [sql, statement] : statements_) {
        sqlite3_finalize(statement);
    }
    sqlite3_close_v2(db_);
}

// Short sleeps: SQLite's own handler sleeps up to 100 ms, which starves a busy queue.
int database::on_busy(void* self, int times) noexcept {
    auto& db = *static_cast<database*>(self);
    const auto now = std::chrono::steady_clock::now();
    if (times == 0) {
        db.busy_since_ = now;
    } else if (now - db.busy_since_ >= db.busy_timeout_) {
        return 0;
    }
    std::this_thread::sleep_for(std::chrono::microseconds{std::min(100 + 50 * times, 2000)});
    return 1;
}

void database::exec(const char* sql) {
    const int code = fails_here("exec") ? SQLITE_IOERR : sqlite3_exec(db_, sql, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) {
        fail(db_, code, std::strlen(sql) < 30 ? sql : "exec");
    }
}

query database::use(std::string_view sql) {
    sqlite3_stmt*& statement = statements_[sql];
    if (statement == nullptr) {
        const int code = fails_here("prepare")
                             ? SQLITE_IOERR
                             : sqlite3_prepare_v3(db_, sql.data(), static_cast<int>(sql.size()),
                                                  SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
        if (code != SQLITE_OK) {
            fail(db_, code, "prepare");
        }
    }
    return query{db_, statement};
}

transaction::~transaction() {
    if (db_.in_transaction()) {
        try {
            db_.exec("ROLLBACK");
        } catch (const broker_error&) {
            // SQLite has rolled back by itself, or does so when the connection closes.
        }
    }
}

}  // namespace spool::inline v1::remote::detail
