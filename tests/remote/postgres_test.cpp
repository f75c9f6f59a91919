// What only PostgreSQL has: transactions of the user's, roles, versions, restarts, poolers.
#include "remote/support/jobs.hpp"
#include "remote/support/site.hpp"
#include "spool/base/error.hpp"
#include "spool/remote/connect.hpp"
#include "support/throws.hpp"

namespace {

using namespace spool::remote;
using namespace test;
using namespace std::chrono_literals;

class user_connection {
public:
    explicit user_connection(const std::string& connection) : c_(PQconnectdb(connection.c_str())) {}
    user_connection(const user_connection&) = delete;
    user_connection& operator=(const user_connection&) = delete;
    ~user_connection() { PQfinish(c_); }
    void exec(const char* sql) { PQclear(PQexec(c_, sql)); }
    PGconn* get() { return c_; }

private:
    PGconn* c_;
};

TEST(postgres_broker, a_job_put_in_a_transaction_exists_when_it_commits) {
    postgres_engine engine;
    const auto b = engine.connect();
    executor cluster{{.broker = b}};
    const new_job job = cluster.prepare({}, add, 1, 2);
    user_connection user{engine.options().connection};
    user.exec("BEGIN");
    EXPECT_EQ(put_in(user.get(), {&job, 1}).at(0).status, put_status::added);
    EXPECT_TRUE(b->look({}).empty());
    user.exec("ROLLBACK");
    EXPECT_TRUE(b->look({}).empty());
    user.exec("BEGIN");
    static_cast<void>(put_in(user.get(), {&job, 1}));
    user.exec("COMMIT");
    EXPECT_EQ(b->look({}).size(), 1U);
}

TEST(postgres_broker, an_effect_and_its_outcome_commit_together) {
    postgres_engine engine;
    postgres_engine::command(engine.options().connection, "CREATE TABLE effect (n int)");
    site s{engine.connect()};
    s.worker.handle(add, [&](int a, int b) {
        user_connection user{engine.options().connection};
        user.exec("BEGIN");
        user.exec("INSERT INTO effect VALUES (1)");
        finish_in(user.get(), encode(a + b));
        user.exec("COMMIT");
        return 0;  // not reported: the outcome is stored
    });
    s.worker.start();
    executor cluster{{.broker = engine.connect()}};
    EXPECT_EQ(get(cluster.submit(add, 2, 3)), 5);
    EXPECT_EQ(postgres_engine::command(engine.options().connection, "SELECT count(*) FROM effect"), "1");
}

TEST(postgres_broker, finish_in_refuses_a_lost_lease_and_a_call_outside_of_a_job) {
    postgres_engine engine;
    user_connection user{engine.options().connection};
    EXPECT_NE(what_of<broker_error>([&] { finish_in(user.get(), {}); }).find("outside of a job"),
              std::string::npos);
}

TEST(postgres_broker, another_schema_version_is_refused_with_a_sentence) {
    postgres_engine engine;
    for (const char* version : {"0", "99"}) {
        postgres_engine::command(engine.options().connection,
                                 std::string("UPDATE spool.version SET number = ") + version);
        const auto b = engine.connect();
        const std::string what = what_of<broker_error>([&] { static_cast<void>(b->now()); });
        EXPECT_NE(what.find(std::string("has version ") + version), std::string::npos) << what;
    }
    EXPECT_NE(what_of<broker_error>([&] { migrate_postgres(engine.options()); }).find("update the program"),
              std::string::npos);
    const auto empty = postgres(postgres_engine::server().connection());
    EXPECT_NE(what_of<broker_error>([&] { static_cast<void>(empty->now()); }).find("spool remote migrate"),
              std::string::npos);
}

TEST(postgres_broker, migrating_twice_changes_nothing) {
    postgres_engine engine;
    EXPECT_EQ(migrate_postgres(engine.options()), 1);
    EXPECT_EQ(migrate_postgres(engine.options()), 1);
}

TEST(postgres_broker, a_submitter_role_can_submit_but_not_take) {
    postgres_engine engine;
    postgres_engine::command(
        engine.options().connection,
        "DO $$ BEGIN CREATE ROLE web LOGIN; EXCEPTION WHEN duplicate_object THEN END $$");
    postgres_engine::command(engine.options().connection, "GRANT spool_submit TO web");
    std::string connection = engine.options().connection;
    connection.replace(connection.find("user=spool"), 10, "user=web");
    const auto web = postgres(connection);
    EXPECT_EQ(put(*web, make_job()).status, put_status::added);
    try {
        static_cast<void>(take(*web));
        FAIL() << "a submitter took a job";
    } catch (const broker_error& e) {
        EXPECT_EQ(e.failure(), broker_failure::denied) << e.what();
    }
}

TEST(postgres_broker, a_password_is_never_part_of_a_message) {
    const auto b = postgres("host=/nonexistent password=hunter2");
    const std::string what = what_of<broker_error>([&] { static_cast<void>(b->now()); });
    EXPECT_EQ(what.find("hunter2"), std::string::npos) << what;
    EXPECT_EQ(b->label().find("hunter2"), std::string::npos);
}

TEST(postgres_broker, without_sessions_polling_finds_jobs_and_outcomes) {
    postgres_engine engine;
    postgres_options pooled = engine.options();
    pooled.session = false;
    site s{postgres(pooled)};
    s.worker.handle(add, [](int a, int b) { return a + b; });
    s.worker.start();
    executor cluster{{.broker = postgres(pooled)}};
    EXPECT_EQ(get(cluster.submit(add, 2, 3)), 5);
    EXPECT_EQ(postgres_engine::command(engine.options().connection,
                                       "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"),
              "0");
}

TEST(postgres_broker, a_worker_whose_session_is_gone_loses_its_jobs_soon) {
    postgres_engine engine;
    const auto lost = engine.connect();
    const auto other = engine.connect();
    const new_job job = make_job();
    put(*lost, job);
    lost->enlist({"w", "lost", {"f"}});
    EXPECT_EQ(take(*lost).size(), 1U);
    other->enlist({"w2", "other", {"f"}});
    take_request mine = request();
    mine.worker = "w2";
    EXPECT_TRUE(other->take(mine).jobs.empty());
    const auto kill = [&] {  // the session that holds the worker's lock
        postgres_engine::command(
            engine.options().connection,
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND "
            "objid = (SELECT lock_key::bigint & 4294967295 FROM spool.worker WHERE id = 'w')");
    };
    kill();
    std::vector<leased_job> taken;
    EXPECT_TRUE(eventually([&] { return !(taken = other->take(mine).jobs).empty(); }));
    EXPECT_EQ(taken.at(0).crashes, 1);
    EXPECT_EQ(taken.at(0).id, job.id);
}

TEST(postgres_broker, futures_outlive_a_restart_of_the_server) {
    postgres_engine engine;
    site s{engine.connect()};
    gate started;
    gate release;
    s.worker.handle(add, [&](int a, int b) {
        started.open();
        release.wait();
        return a + b;
    });
    const open_at_end opener{release};
    s.worker.start();
    executor cluster{{.broker = engine.connect(), .submit_timeout = long_delay()}};
    const auto sum = cluster.submit_job({}, add, 1, 1);
    ASSERT_TRUE(started.opens());
    postgres_engine::server().stop(spool::remote_demo::postgres_server::stop_mode::fast);
    postgres_engine::server().start();
    release.open();
    EXPECT_EQ(get(sum.result), 2);
    EXPECT_EQ(get(cluster.submit(add, 2, 2)), 4);
    EXPECT_EQ(s.worker.counts().lost, 0U);
    EXPECT_EQ(record(*engine.connect(), sum.id).crashes, 0);
}

TEST(postgres_broker, an_address_is_not_repeated_when_it_names_no_broker) {
    const std::string what =
        what_of<broker_error>([] { static_cast<void>(connect("mysql:password=hunter2")); });
    EXPECT_NE(what.find("mysql"), std::string::npos);
    EXPECT_EQ(what.find("hunter2"), std::string::npos);
}

}  // namespace
