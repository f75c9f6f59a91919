// spool-remote-demo: a queue, one submitter, several worker processes, and kills in the middle. It
// checks that every job ends exactly once, and fails if one does not.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <random>
#include <thread>

#include "history.hpp"
#include "postgres_server.hpp"
#include "spool/pool/thread_pool_executor.hpp"
#include "spool/remote/connect.hpp"
#include "spool/remote/executor.hpp"
#include "spool/remote/postgres_broker.hpp"
#include "spool/remote/worker.hpp"
#include "spool/sync/this_task.hpp"

namespace spool::remote_demo {
namespace {

using namespace std::chrono_literals;

SPOOL_REMOTE(square, long(long n));

struct settings {
    std::size_t jobs = 3000;
    std::size_t workers = 3;
    std::size_t kills = 1;
    std::chrono::milliseconds kill_every{400};
    std::chrono::microseconds work{3000};
    std::string address;
    bool starts_postgres = false;
    std::size_t restarts = 0;
};

int run_worker(const std::string& address, const std::string& journal_file, long microseconds) {
    const journal log{journal_file};
    thread_pool_executor pool({.name = "jobs", .core_size = 2});
    remote::worker worker({.broker = remote::connect(address), .pool = pool, .lease = 3s});
    worker.handle(square, [&](long n) {
        const remote::lease mine = *remote::this_job::current();
        log.note("begin", mine.id, mine.fence);
        this_task::sleep_for(std::chrono::microseconds{microseconds});
        log.note("end", mine.id, mine.fence);
        return n * n;
    });
    worker.run_until_signal({SIGTERM, SIGINT});
    return 0;
}

/// The worker processes of the run. A killed one is replaced at once.
class crew {
public:
    crew(std::string program, const settings& s, std::string folder)
        : program_(std::move(program)), settings_(s), folder_(std::move(folder)) {
        for (std::size_t i = 0; i < s.workers; ++i) {
            start();
        }
    }
    crew(const crew&) = delete;
    crew& operator=(const crew&) = delete;
    ~crew() { stop(); }

    void kill_one(std::size_t which) {
        const std::size_t victim = living_[which % living_.size()];
        const std::int64_t now = steady_now();
        ::kill(processes_[victim], SIGKILL);
        ::waitpid(processes_[victim], nullptr, 0);
        std::erase(living_, victim);
        kills_["worker-" + std::to_string(victim)] = now;
        std::printf("    killed worker %zu (process %d)\n", victim + 1, processes_[victim]);
        start();
    }
    /// Drains every worker by SIGTERM. False: one did not end well.
    bool stop() {
        bool well = true;
        for (const std::size_t i : living_) {
            ::kill(processes_[i], SIGTERM);
        }
        for (const std::size_t i : living_) {
            int status = 0;
            ::waitpid(processes_[i], &status, 0);
            well &= WIFEXITED(status) && WEXITSTATUS(status) == 0;
        }
        living_.clear();
        return well;
    }
    [[nodiscard]] std::size_t count() const { return processes_.size(); }
    [[nodiscard]] const std::map<std::string, std::int64_t>& kills() const { return kills_; }

private:
    void start() {
        const std::string log = folder_ + "/worker-" + std::to_string(processes_.size());
        const std::string work = std::to_string(settings_.work.count());
        const char* arguments[] = {program_.c_str(), "--worker",   settings_.address.c_str(),
                                   log.c_str(),      work.c_str(), nullptr};
        pid_t process = 0;
        if (posix_spawn(&process, program_.c_str(), nullptr, nullptr, const_cast<char* const*>(arguments),
                        environ) != 0) {
            throw std::runtime_error("cannot start " + program_);
        }
        living_.push_back(processes_.size());
        processes_.push_back(process);
    }

    std::string program_;
    const settings& settings_;
    std::string folder_;
    std::vector<pid_t> processes_;
    std::vector<std::size_t> living_;
    std::map<std::string, std::int64_t> kills_;
};

std::atomic<std::size_t> finished{0};

/// Submits in batches of 100. A batch that is not acknowledged ends the run with an exception.

void submit_all(remote::executor& cluster, const settings& s, const journal& log) {
    constexpr std::size_t batch = 100;
    for (std::size_t from = 0; from < s.jobs; from += batch) {
        std::vector<remote::job_id> ids;
        std::vector<std::tuple<long>> arguments;
        for (std::size_t i = from; i < std::min(from + batch, s.jobs); ++i) {
            arguments.emplace_back(static_cast<long>(i));
        }
        const auto jobs = cluster.submit_all({.crash_limit = 1000, .keep = 1h}, square, arguments);
        for (std::size_t i = 0; i < jobs.size(); ++i) {
            log.note("submit", jobs[i].id);
            log.note("acknowledged", jobs[i].id);
            const long n = std::get<0>(arguments[i]);
            jobs[i].result.on_done([&log, id = jobs[i].id, n](const future<long>& f) {
                if (f.state() == future_state::succeeded && f.result_now() == n * n) {
                    log.note("outcome", id, f.result_now());
                    ++finished;
                }
            });
        }
    }
}

int report(const verdict& v, const settings& s, double seconds, bool ended_well) {
    std::printf("\n    jobs submitted       %zu\n    outcomes             %zu, each exactly once: %s\n",
                v.submitted, v.outcomes, v.violations.empty() && v.outcomes == s.jobs ? "yes" : "NO");
    std::printf("    executions           %zu; %zu job(s) ran again after a kill\n", v.executions,
                v.repeated);
    std::printf("    longest recovery     %.0f ms from a kill to the next start of its jobs\n",
                v.longest_recovery);
    std::printf("    time                 %.1f s, %.0f jobs/s\n", seconds,
                static_cast<double>(s.jobs) / seconds);
    for (const std::string& violation : v.violations) {
        std::printf("    VIOLATION: %s\n", violation.c_str());
    }
    if (!ended_well) {
        std::printf("    VIOLATION: a worker did not drain on SIGTERM\n");
    }
    return v.violations.empty() && v.outcomes == s.jobs && ended_well ? 0 : 1;
}

int run(const std::string& program, settings s) {
    std::string folder = (std::filesystem::temp_directory_path() / "spool-remote-XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) {
        throw std::runtime_error("cannot make a temporary folder");
    }
    std::optional<postgres_server> server;
    if (s.starts_postgres) {
        std::printf("==> starting a PostgreSQL in a temporary folder\n");
        server.emplace(std::vector<std::string>{"max_connections=100"});
        s.address = "postgres:" + server->connection();
        remote::migrate_postgres({.connection = server->connection()});
    } else if (s.address.empty()) {
        s.address = "sqlite:" + folder + "/jobs.db";
    }
    const std::string what = s.address.substr(0, s.address.find(':'));
    std::printf("==> %zu jobs on %s, %zu worker processes, %zu kill(s)\n", s.jobs, what.c_str(), s.workers,
                s.kills);
    std::fflush(stdout);

    const auto broker = remote::connect(s.address);
    verdict result;
    bool ended_well = false;
    double seconds = 0;
    {
        const journal log{folder + "/submitter"};
        crew workers{program, s, folder};
        remote::executor cluster({.broker = broker, .submit_timeout = 30s});
        const std::int64_t start = steady_now();
        std::jthread submitter{[&] { submit_all(cluster, s, log); }};
        std::mt19937 random{std::random_device{}()};
        for (std::size_t kill = 0; kill < s.kills; ++kill) {
            std::this_thread::sleep_for(s.kill_every);
            workers.kill_one(random());
            if (server && kill < s.restarts) {
                const bool is_harsh = kill % 2 == 0;
                server->stop(is_harsh ? postgres_server::stop_mode::immediate
                                      : postgres_server::stop_mode::fast);
                server->start();
                std::printf("    restarted the server (%s)\n", is_harsh ? "immediate" : "fast");
            }
        }
        submitter.join();
        static_cast<void>(cluster.await_all(10min));
        seconds = static_cast<double>(steady_now() - start) / 1e6;
        ended_well = workers.stop();

        std::vector<event> events = read_journal(folder + "/submitter", "submitter");
        for (std::size_t i = 0; i < workers.count(); ++i) {
            const std::string name = "worker-" + std::to_string(i);
            const auto more = read_journal(folder + "/" + name, name);
            events.insert(events.end(), more.begin(), more.end());
        }
        remote::look_filter all;
        all.limit = SIZE_MAX / 2;
        all.payloads = false;
        result = check(events, workers.kills(), broker->look(all));
    }
    const int code = report(result, s, seconds, ended_well);
    if (code == 0) {
        std::filesystem::remove_all(folder);
    } else {
        std::printf("    journals: %s\n", folder.c_str());
    }
    return code;
}

std::size_t number(const char* text) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text, text + std::strlen(text), value);
    if (error != std::errc{} || *end != '\0') {
        throw std::invalid_argument(std::string("not a number: ") + text);
    }
    return value;
}

int main_of(int argc, char** argv) {
    if (argc == 5 && std::strcmp(argv[1], "--worker") == 0) {
        return run_worker(argv[2], argv[3], static_cast<long>(number(argv[4])));
    }
    settings s;
    for (int i = 1; i < argc; ++i) {
        const std::string option = argv[i];
        if (option == "--postgres") {
            s.starts_postgres = true;
            continue;
        }
        if (i + 1 == argc) {
            throw std::invalid_argument(option + " needs a value, or is unknown");
        }
        const char* const value = argv[++i];
        if (option == "--jobs") {
            s.jobs = number(value);
        } else if (option == "--workers") {
            s.workers = std::max<std::size_t>(number(value), 1);
        } else if (option == "--kills") {
            s.kills = number(value);
        } else if (option == "--kill-every-ms") {
            s.kill_every = std::chrono::milliseconds{number(value)};
        } else if (option == "--work-us") {
            s.work = std::chrono::microseconds{number(value)};
        } else if (option == "--restarts") {
            s.restarts = number(value);
        } else if (option == "--broker") {
            s.address = value;
        } else {
            throw std::invalid_argument("unknown option " + option);
        }
    }
    return run(std::filesystem::read_symlink("/proc/self/exe").string(), s);
}

}  // namespace
}  // namespace spool::remote_demo

int main(int argc, char** argv) {
    try {
        return spool::remote_demo::main_of(argc, argv);
    } catch (const std::exception& e) {
        std::fprintf(stderr,
                     "spool-remote-demo: %s\nusage: spool-remote-demo [--jobs N] [--workers N] [--kills N] "
                     "[--kill-every-ms N] [--work-us N] [--restarts N] [--postgres | --broker ADDRESS]\n",
                     e.what());
        return 2;
    }
}
