// Every call of the engine fails in turn: a broker's call happens completely or not at all, and
// repeating it gives what the first call would have given.
#include <sys/mount.h>

#include <atomic>
#include <filesystem>
#include <fstream>

#include "remote/fault_point.hpp"
#include "remote/support/broker_kinds.hpp"
#include "remote/support/jobs.hpp"
#include "remote/support/site.hpp"
#include "spool/remote/error.hpp"
#include "support/throws.hpp"

namespace {

using namespace spool::remote;
using namespace test;

std::atomic<int> calls_before_fault{-1};
std::atomic<int> faults{0};

bool fail_once(const char*) noexcept {
    if (calls_before_fault.fetch_sub(1) == 0) {
        ++faults;
        return true;
    }
    return false;
}

/// Fails call number `n` of the engine, once.
class one_fault {
public:
    explicit one_fault(int n) {
        faults = 0;
        calls_before_fault = n;
        spool::remote::detail::fault = fail_once;
    }
    one_fault(const one_fault&) = delete;
    one_fault& operator=(const one_fault&) = delete;
    ~one_fault() { spool::remote::detail::fault = nullptr; }
};

/// Repeats `f()` after a transient failure.
template <class F>
auto stubbornly(F f) {
    for (int attempt = 0;; ++attempt) {
        try {
            return f();
        } catch (const broker_error& e) {
            EXPECT_TRUE(e.is_transient()) << e.what();
            if (attempt == 3) {
                throw;
            }
        }
    }
}

using broker_faults = over_brokers;
SPOOL_OVER_BROKERS(broker_faults);

TEST_P(broker_faults, a_call_that_failed_can_be_repeated) {
    for (int n = 0;; ++n) {
        const auto b = engine_->connect();
        const std::string queue = "q" + std::to_string(n);
        new_job jobs[] = {make_job("f", queue), make_job("f", queue)};
        jobs[0].retries = 1;
        take_request all{"w", {{queue, 2}}, {"f"}, 2, std::chrono::minutes{1}};
        const one_fault fault{n};
        stubbornly([&] { return b->put(jobs, {}); });
        stubbornly([&] { return b->put(jobs, {10, full_queue::refuse}); });
        const auto taken = stubbornly([&] { return b->take(all); }).jobs;
        ASSERT_EQ(taken.size(), 2U) << "call " << n;
        EXPECT_EQ(stubbornly([&] { return renew(*b, taken[0]); }), renew_status::renewed);
        const finish_status error = stubbornly([&] { return finish(*b, taken[0], outcome_kind::error); });
        EXPECT_EQ(error, finish_status::retrying);
        const auto again = stubbornly([&] { return b->take(all); }).jobs;
        ASSERT_EQ(again.size(), 1U) << "call " << n;
        EXPECT_EQ(stubbornly([&] { return hand_back(*b, again[0]); }), 1U);
        EXPECT_EQ(stubbornly([&] { return b->cancel(again[0].id); }), cancel_status::cancelled);
        EXPECT_EQ(stubbornly([&] { return finish(*b, taken[1]); }), finish_status::finished);
        EXPECT_TRUE(stubbornly([&] { return b->retry(again[0].id); }));
        stubbornly([&] { return b->tidy(10); });
        const auto records = stubbornly([&] { return b->look({.ids = {jobs[1].id, jobs[0].id}}); });
        ASSERT_EQ(records.size(), 2U);
        EXPECT_EQ(records[1].state, job_state::queued);
        EXPECT_EQ(records[1].attempt, 0);
        EXPECT_EQ(records[0].state, job_state::succeeded);
        EXPECT_EQ(records[0].crashes, 0);
        if (faults == 0) {
            EXPECT_TRUE(n > 10 || GetParam().name == "memory");
            return;  // the script has fewer calls than n
        }
    }
}

TEST_P(broker_faults, a_worker_and_an_executor_go_on_through_any_fault) {
    for (int n = 0; n < 60; n += 3) {
        site s{engine_->connect()};
        s.worker.handle(add, [](int a, int b) { return a + b; });
        executor cluster{
            {.broker = broker_, .submit_timeout = long_delay(), .poll = std::chrono::milliseconds{50}}};
        const one_fault fault{n};
        s.worker.start();
        EXPECT_EQ(get(cluster.submit({.crash_limit = 100}, add, n, 1)), n + 1);
        s.worker.close();
    }
}

#if !defined(SPOOL_TEST_POSTGRES)
TEST(sqlite_broker, a_full_disk_is_said_and_loses_nothing_acknowledged) {
    const temporary_folder folder;
    std::filesystem::create_directory(folder.file("small"));
    if (mount("none", folder.file("small").c_str(), "tmpfs", 0, "size=1m") != 0) {
        GTEST_SKIP() << "only root may mount a small file system";
    }
    std::vector<job_id> acknowledged;
    {
        const auto b = sqlite(folder.file("small/jobs.db"));
        new_job job = make_job();
        job.args.assign(20'000, 7);
        bool is_full = false;
        for (int i = 0; i < 200 && !is_full; ++i) {
            job.id = job_id::random();
            try {
                put(*b, job);
                acknowledged.push_back(job.id);
            } catch (const broker_error& e) {
                EXPECT_EQ(e.failure(), broker_failure::out_of_space) << e.what();
                is_full = true;
            }
        }
        EXPECT_TRUE(is_full);
    }
    {
        const auto b = sqlite(folder.file("small/jobs.db"));
        for (const job_id& id : acknowledged) {
            EXPECT_EQ(b->look({.ids = {id}, .payloads = false}).size(), 1U);
        }
    }
    umount(folder.file("small").c_str());
}

TEST(sqlite_broker, another_version_or_another_program_is_refused_with_a_sentence) {
    const temporary_folder folder;
    {
        std::ofstream text{folder.file("text.db")};
        text << std::string(5000, 'x');
    }
    EXPECT_THROW(static_cast<void>(sqlite(folder.file("text.db"))), broker_error);
    static_cast<void>(sqlite(folder.file("jobs.db")));
    // A byte of the header holds the version: see SQLite's file format.
    for (const int version : {0, 2}) {
        std::fstream file{folder.file("jobs.db"), std::ios::in | std::ios::out | std::ios::binary};
        file.seekp(63);
        file.put(static_cast<char>(version));
        file.close();
        std::filesystem::remove(folder.file("jobs.db-wal"));
        const std::string what =
            what_of<broker_error>([&] { static_cast<void>(sqlite(folder.file("jobs.db"))); });
        EXPECT_NE(what.find(version == 0 ? "another program" : "update the program"), std::string::npos)
            << what;
    }
    EXPECT_THROW(static_cast<void>(sqlite(folder.file("no/such/folder/jobs.db"))), broker_error);
}

TEST(sqlite_broker, the_end_of_a_workers_process_frees_its_jobs_at_once) {
    const temporary_folder folder;
    const auto other = sqlite(folder.file("jobs.db"));
    {
        const auto lost = sqlite(folder.file("jobs.db"));
        put(*lost, make_job());
        lost->enlist({"w", "lost", {"f"}});
        EXPECT_EQ(take(*lost).size(), 1U);
        EXPECT_TRUE(take(*other).empty());
    }  // closes the files, as the end of a process does
    std::vector<leased_job> taken;
    EXPECT_TRUE(eventually([&] { return !(taken = take(*other)).empty(); }));
    EXPECT_EQ(taken.at(0).crashes, 1);
    EXPECT_TRUE(other->workers().empty());
}
#endif

}  // namespace
