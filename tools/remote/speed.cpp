// spool-remote-speed: brokers against loops written by hand for the same engine, with the same
// batches and durability, in one run. The loops have no keys, delays, retries, leases or news.
#include <libpq-fe.h>
#include <sqlite3.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "postgres_server.hpp"
#include "spool/pool/thread_pool_executor.hpp"
#include "spool/remote/executor.hpp"
#include "spool/remote/postgres_broker.hpp"
#include "spool/remote/sqlite_broker.hpp"
#include "spool/remote/worker.hpp"

namespace spool::remote_demo {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t batch = 100;
const remote::bytes payload(128, 7);

struct figures {
    double submit = 0;  // jobs per second
    double work = 0;
};

template <class F>
double rate(std::size_t jobs, F f) {
    const auto start = std::chrono::steady_clock::now();
    f();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    return static_cast<double>(jobs) / time.count();
}

figures measure(remote::broker& b, std::size_t jobs) {
    figures f;
    f.submit = rate(jobs, [&] {
        std::vector<remote::new_job> part(batch);
        for (std::size_t from = 0; from < jobs; from += batch) {
            for (remote::new_job& job : part) {
                job.id = remote::job_id::random();
                job.queue = "q";
                job.function = "f";
                job.args = payload;
            }
            b.put(part, {});
        }
    });
    f.work = rate(jobs, [&] {
        const remote::take_request request{"w", {{"q", batch}}, {"f"}, batch, 1min};
        for (std::size_t done = 0; done < jobs;) {
            std::vector<remote::job_outcome> outcomes;
            for (const remote::leased_job& job : b.take(request).jobs) {
                outcomes.emplace_back();
                outcomes.back().lease = {job.id, job.fence};
                outcomes.back().result = payload;
            }
            b.finish(outcomes);
            done += outcomes.size();
        }
    });
    return f;
}

void check(bool is_good, const std::string& what) {
    if (!is_good) {
        throw std::runtime_error(what);
    }
}

class sqlite_loop {
public:
    sqlite_loop(const std::string& file, bool is_full) {
        check(sqlite3_open(file.c_str(), &db_) == SQLITE_OK, "open");
        exec("PRAGMA journal_mode = WAL");
        exec(is_full ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
        exec("CREATE TABLE job (number INTEGER PRIMARY KEY, id BLOB UNIQUE, queue TEXT, args BLOB, state "
             "INT, result BLOB)");
        exec("CREATE INDEX ready ON job(queue, number) WHERE state = 1");
        insert_ = prepare("INSERT INTO job (id, queue, args, state) VALUES (?, 'q', ?, 1)");
        select_ =
            prepare("SELECT number, args FROM job WHERE state = 1 AND queue = 'q' ORDER BY number LIMIT 100");
        take_ = prepare("UPDATE job SET state = 2 WHERE number = ?");
        finish_ = prepare("UPDATE job SET state = 3, result = ? WHERE number = ?");
    }
    sqlite_loop(const sqlite_loop&) = delete;
    sqlite_loop& operator=(const sqlite_loop&) = delete;
    ~sqlite_loop() {
        for (sqlite3_stmt* s : {insert_, select_, take_, finish_}) {
            sqlite3_finalize(s);
        }
        sqlite3_close(db_);
    }

    figures measure(std::size_t jobs) {
        figures f;
        f.submit = rate(jobs, [&] {
            for (std::size_t from = 0; from < jobs; from += batch) {
                exec("BEGIN IMMEDIATE");
                for (std::size_t i = 0; i < batch; ++i) {
                    const remote::job_id id = remote::job_id::random();
                    sqlite3_bind_blob(insert_, 1, id.value().data(), 16, SQLITE_TRANSIENT);
                    sqlite3_bind_blob(insert_, 2, payload.data(), static_cast<int>(payload.size()),
                                      SQLITE_STATIC);
                    run(insert_);
                }
                exec("COMMIT");
            }
        });
        f.work = rate(jobs, [&] {
            for (std::size_t done = 0; done < jobs;) {
                std::vector<sqlite3_int64> numbers;
                exec("BEGIN IMMEDIATE");
                while (sqlite3_step(select_) == SQLITE_ROW) {
                    numbers.push_back(sqlite3_column_int64(select_, 0));
                    static_cast<void>(sqlite3_column_blob(select_, 1));
                }
                sqlite3_reset(select_);
                for (const sqlite3_int64 n : numbers) {
                    sqlite3_bind_int64(take_, 1, n);
                    run(take_);
                }
                exec("COMMIT");
                exec("BEGIN IMMEDIATE");
                for (const sqlite3_int64 n : numbers) {
                    sqlite3_bind_blob(finish_, 1, payload.data(), static_cast<int>(payload.size()),
                                      SQLITE_STATIC);
                    sqlite3_bind_int64(finish_, 2, n);
                    run(finish_);
                }
                exec("COMMIT");
                done += numbers.size();
            }
        });
        return f;
    }

private:
    void exec(const char* sql) { check(sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) == SQLITE_OK, sql); }
    sqlite3_stmt* prepare(const char* sql) {
        sqlite3_stmt* s = nullptr;
        check(sqlite3_prepare_v2(db_, sql, -1, &s, nullptr) == SQLITE_OK, sql);
        return s;
    }
    static void run(sqlite3_stmt* s) {
        check(sqlite3_step(s) == SQLITE_DONE, "step");
        sqlite3_reset(s);
    }

    sqlite3* db_ = nullptr;
    sqlite3_stmt *insert_, *select_, *take_, *finish_;
};

class postgres_loop {
public:
    explicit postgres_loop(const std::string& connection) : c_(PQconnectdb(connection.c_str())) {
        exec("DROP TABLE IF EXISTS hand");
        exec("CREATE TABLE hand (number bigserial PRIMARY KEY, id uuid UNIQUE, queue text, args bytea, state "
             "int, "
             "result bytea)");
        exec("CREATE INDEX hand_ready ON hand (queue, number) WHERE state = 1");
        hex_ = "\\x";
        for (std::size_t i = 0; i < payload.size(); ++i) {
            hex_ += "07";
        }
    }
    postgres_loop(const postgres_loop&) = delete;
    postgres_loop& operator=(const postgres_loop&) = delete;
    ~postgres_loop() { PQfinish(c_); }

    figures measure(std::size_t jobs) {
        figures f;
        f.submit = rate(jobs, [&] {
            for (std::size_t from = 0; from < jobs; from += batch) {
                std::string ids = "{";
                std::string args = "{";
                for (std::size_t i = 0; i < batch; ++i) {
                    ids += (i == 0 ? "" : ",") + remote::job_id::random().text();
                    args += (i == 0 ? "\"\\" : ",\"\\") + hex_ + "\"";
                }
                run("INSERT INTO hand (id, queue, args, state) SELECT i, 'q', a, 1 FROM unnest($1::uuid[], "
                    "$2::bytea[]) "
                    "AS u (i, a)",
                    {ids + "}", args + "}"});
            }
        });
        f.work = rate(jobs, [&] {
            for (std::size_t done = 0; done < jobs;) {
                const std::vector<std::string> numbers =
                    run("UPDATE hand SET state = 2 WHERE number IN (SELECT number FROM hand WHERE state = 1 "
                        "AND queue = 'q' "
                        "ORDER BY number LIMIT 100 FOR UPDATE SKIP LOCKED) RETURNING number, args",
                        {});
                std::string all = "{";
                std::string results = "{";
                for (std::size_t i = 0; i < numbers.size(); ++i) {
                    all += (i == 0 ? "" : ",") + numbers[i];
                    results += (i == 0 ? "\"\\" : ",\"\\") + hex_ + "\"";
                }
                run("UPDATE hand h SET state = 3, result = u.r FROM unnest($1::bigint[], $2::bytea[]) AS u "
                    "(n, r) WHERE "
                    "h.number = u.n",
                    {all + "}", results + "}"});
                done += numbers.size();
            }
        });
        return f;
    }

private:
    void exec(const char* sql) { PQclear(PQexec(c_, sql)); }
    std::vector<std::string> run(const char* sql, const std::vector<std::string>& parameters) {
        std::vector<const char*> values;
        for (const std::string& p : parameters) {
            values.push_back(p.c_str());
        }
        PGresult* const r = PQexecParams(c_, sql, static_cast<int>(values.size()), nullptr, values.data(),
                                         nullptr, nullptr, 0);
        const auto status = PQresultStatus(r);
        std::vector<std::string> first;
        for (int i = 0; i < PQntuples(r); ++i) {
            first.emplace_back(PQgetvalue(r, i, 0));
        }
        PQclear(r);
        check(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK, PQerrorMessage(c_));
        return first;
    }

    PGconn* c_;
    std::string hex_;
};

SPOOL_REMOTE(echo, int(int n));

double median_round_trip(const std::function<std::shared_ptr<remote::broker>()>& connect) {
    thread_pool_executor pool({.core_size = 1});
    remote::worker worker({.broker = connect(), .pool = pool});
    worker.handle(echo, [](int n) { return n; });
    worker.start();
    remote::executor cluster({.broker = connect()});
    std::vector<double> times;
    for (int i = 0; i < 200; ++i) {
        const auto start = std::chrono::steady_clock::now();
        static_cast<void>(cluster.submit(echo, i).get());
        times.push_back(
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    }
    std::nth_element(times.begin(), times.begin() + 100, times.end());
    return times[100];
}

void print(const char* what, const figures& ours, const figures& hand) {
    std::printf(
        "%-28s submit %8.0f/s (by hand %8.0f/s, %.2fx)   take+finish %8.0f/s (by hand %8.0f/s, %.2fx)\n",
        what, ours.submit, hand.submit, ours.submit / hand.submit, ours.work, hand.work,
        ours.work / hand.work);
    std::fflush(stdout);
}

int run(std::size_t jobs) {
    std::string folder = (std::filesystem::temp_directory_path() / "spool-speed-XXXXXX").string();
    check(mkdtemp(folder.data()) != nullptr, "no temporary folder");
    for (const bool is_full : {false, true}) {
        const std::string tag = is_full ? "full" : "relaxed";
        const remote::sqlite_options options{.file = folder + "/" + tag + ".db",
                                             .durability = is_full ? remote::durability::full
                                                                   : remote::durability::relaxed};
        const figures hand = sqlite_loop{folder + "/hand-" + tag, is_full}.measure(jobs);
        const figures ours = measure(*remote::sqlite(options), jobs);
        print(("sqlite, " + tag).c_str(), ours, hand);
        std::printf("%-28s submit to result, median: %.2f ms\n", "",
                    median_round_trip([&] { return remote::sqlite(options); }));
    }
    for (const char* mode : {"off", "on"}) {
        postgres_server server{{std::string("synchronous_commit=") + mode}};
        remote::migrate_postgres({.connection = server.connection()});
        const figures hand = postgres_loop{server.connection()}.measure(jobs);
        const figures ours = measure(*remote::postgres(server.connection()), jobs);
        print((std::string("postgres, sync commit ") + mode).c_str(), ours, hand);
        std::printf("%-28s submit to result, median: %.2f ms\n", "",
                    median_round_trip([&] { return remote::postgres(server.connection()); }));
    }
    std::filesystem::remove_all(folder);
    return 0;
}

}  // namespace
}  // namespace spool::remote_demo

int main(int argc, char** argv) {
    try {
        return spool::remote_demo::run(argc > 1 ? std::stoul(argv[1]) / 100 * 100 : 20'000);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "spool-remote-speed: %s\n", e.what());
        return 2;
    }
}
