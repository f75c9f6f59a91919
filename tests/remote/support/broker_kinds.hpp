// The brokers that the tests run over. To test a broker of your own, add a kind here.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "spool/remote/broker.hpp"
#include "spool/remote/memory_broker.hpp"
#include "spool/remote/postgres_broker.hpp"
#include "spool/remote/sqlite_broker.hpp"
#if defined(SPOOL_TEST_POSTGRES)
#include "remote/postgres_server.hpp"
#endif

namespace test {

/// A folder that is removed at the end.
class temporary_folder {
public:
    temporary_folder() {
        std::string name = (std::filesystem::temp_directory_path() / "spool-XXXXXX").string();
        path_ = mkdtemp(name.data());
    }
    temporary_folder(const temporary_folder&) = delete;
    temporary_folder& operator=(const temporary_folder&) = delete;
    ~temporary_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
};

/// An engine with no jobs, and connections to it: each connect() is as good as another process.
class engine {
public:
    virtual ~engine() = default;
    [[nodiscard]] virtual std::shared_ptr<spool::remote::broker> connect() = 0;
};

class memory_engine final : public engine {
public:
    std::shared_ptr<spool::remote::broker> connect() override { return broker_; }

private:
    std::shared_ptr<spool::remote::broker> broker_ = spool::remote::memory();
};

class sqlite_engine final : public engine {
public:
    std::shared_ptr<spool::remote::broker> connect() override {
        return spool::remote::sqlite(
            {.file = folder_.file("jobs.db"), .durability = spool::remote::durability::relaxed});
    }

private:
    temporary_folder folder_;
};

#if defined(SPOOL_TEST_POSTGRES)
/// One server for the program; each engine is a database of its own, copied from a migrated one.
class postgres_engine final : public engine {
public:
    postgres_engine() {
        static int number = 0;
        name_ = "engine_" + std::to_string(++number);
        command(server().connection(), "CREATE DATABASE " + name_ + " TEMPLATE migrated");
    }
    ~postgres_engine() override {
        command(server().connection(), "DROP DATABASE " + name_ + " WITH (FORCE)");
    }
    [[nodiscard]] spool::remote::postgres_options options() const {
        return {.connection = server().connection(name_)};
    }
    std::shared_ptr<spool::remote::broker> connect() override { return spool::remote::postgres(options()); }

    static spool::remote_demo::postgres_server& server() {
        static spool::remote_demo::postgres_server one{{"fsync=off", "max_connections=100"}};
        static const bool is_migrated = [] {
            command(one.connection(), "CREATE DATABASE migrated");
            return spool::remote::migrate_postgres({.connection = one.connection("migrated")}) == 1;
        }();
        static_cast<void>(is_migrated);
        return one;
    }
    /// Runs one statement and returns the first field, if there is one.
    static std::string command(const std::string& connection, const std::string& sql) {
        PGconn* const c = PQconnectdb(connection.c_str());
        PGresult* const r = PQexec(c, sql.c_str());
        const auto status = PQresultStatus(r);
        const std::string text = PQntuples(r) > 0 ? PQgetvalue(r, 0, 0) : PQerrorMessage(c);
        PQclear(r);
        PQfinish(c);
        if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
            throw std::runtime_error(sql + ": " + text);
        }
        return text;
    }

private:
    std::string name_;
};
#endif

struct broker_kind {
    std::string name;
    std::function<std::unique_ptr<engine>()> start;
};

[[nodiscard]] inline std::vector<broker_kind> broker_kinds() {
#if defined(SPOOL_TEST_POSTGRES)
    return {{"postgres", [] { return std::make_unique<postgres_engine>(); }}};
#else
    return {{"memory", [] { return std::make_unique<memory_engine>(); }},
            {"sqlite", [] { return std::make_unique<sqlite_engine>(); }}};
#endif
}

/// A test that runs over every kind.
class over_brokers : public testing::TestWithParam<broker_kind> {
protected:
    std::unique_ptr<engine> engine_ = GetParam().start();
    std::shared_ptr<spool::remote::broker> broker_ = engine_->connect();
};

}  // namespace test

#define SPOOL_OVER_BROKERS(suite)                                                                            \
    INSTANTIATE_TEST_SUITE_P(brokers, suite, testing::ValuesIn(::test::broker_kinds()),                      \
                             [](const auto& kind) { return kind.param.name; })
