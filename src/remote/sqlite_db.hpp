// A connection to an SQLite file, its statements and transactions. Every failure is a broker_error.
#pragma once

#include <sqlite3.h>

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "spool/remote/error.hpp"
#include "spool/remote/job.hpp"

namespace spool::inline v1::remote::detail {

/// A use of a prepared statement. The destructor makes the statement free for the next use.
class query {
public:
    query(sqlite3* db, sqlite3_stmt* statement) noexcept : db_(db), statement_(statement) {}
    query(const query&) = delete;
    query& operator=(const query&) = delete;
    ~query();

    /// Binds the next parameter.
    query& bind(std::int64_t value);
    query& bind(std::string_view text);
    query& bind(std::span<const std::uint8_t> blob);
    query& bind(const job_id& id) { return bind(std::span<const std::uint8_t>{id.value()}); }
    query& bind_null();
    /// True: there is a row.
    bool step();
    /// Runs to the end.
    void run();

    [[nodiscard]] std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
    [[nodiscard]] double real(int column) const { return sqlite3_column_double(statement_, column); }
    query& bind_real(double value);
    [[nodiscard]] std::string text(int column) const;
    [[nodiscard]] bytes blob(int column) const;
    [[nodiscard]] job_id id(int column) const;

private:
    void check(int code, const char* call) const;

    sqlite3* db_;
    sqlite3_stmt* statement_;
    int bound_ = 0;
};

/// One connection. One thread at a time.
class database {
public:
    database(const std::string& file, std::chrono::nanoseconds busy_timeout);
    database(const database&) = delete;
    database& operator=(const database&) = delete;
    ~database();

    void exec(const char* sql);
    /// `sql` is a literal: statements are kept by their text.
    [[nodiscard]] query use(std::string_view sql);
    [[nodiscard]] std::int64_t changes() const noexcept { return sqlite3_changes64(db_); }
    [[nodiscard]] bool in_transaction() const noexcept { return sqlite3_get_autocommit(db_) == 0; }

private:
    static int on_busy(void* self, int times) noexcept;

    sqlite3* db_ = nullptr;
    std::chrono::nanoseconds busy_timeout_;
    std::chrono::steady_clock::time_point busy_since_;
    std::unordered_map<std::string_view, sqlite3_stmt*> statements_;
};

/// A write transaction: begun at once, so that it cannot fail half-way for lack of the lock. Rolled
/// back unless committed.
class transaction {
public:
    explicit transaction(database& db) : db_(db) { db_.exec("BEGIN IMMEDIATE"); }
    transaction(const transaction&) = delete;
    transaction& operator=(const transaction&) = delete;
    ~transaction();
    void commit() { db_.exec("COMMIT"); }

private:
    database& db_;
};

}  // namespace spool::inline v1::remote::detail
