// postgres_server: a PostgreSQL of its own in a temporary folder, on a Unix socket, as a user
// without privileges. For tests and the demonstration.
#pragma once

#include <fcntl.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

extern char** environ;

namespace spool::remote_demo {

class postgres_server {
public:
    enum class stop_mode { fast = SIGINT, immediate = SIGQUIT };

    /// Makes a database cluster and starts the server. `settings` are postgresql.conf's,
    /// "name=value".
    explicit postgres_server(std::vector<std::string> settings) : settings_(std::move(settings)) {
        std::string name = (std::filesystem::temp_directory_path() / "spool-pg-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) {
            throw std::runtime_error("cannot make a temporary folder");
        }
        folder_ = name;
        if (::geteuid() == 0) {  // PostgreSQL refuses to run as root
            const passwd* user = ::getpwnam("postgres");
            user = user == nullptr ? ::getpwnam("nobody") : user;
            if (user == nullptr || ::chown(folder_.c_str(), user->pw_uid, user->pw_gid) != 0) {
                throw std::runtime_error("no user to run PostgreSQL as");
            }
            user_ = user->pw_name;
        }
        try {
            const pid_t maker = spawn({program("initdb"), "-D", folder_ + "/data", "-A", "trust", "-U",
                                       "spool", "-E", "UTF8", "--locale=C", "--no-sync"});
            int status = 0;
            if (::waitpid(maker, &status, 0) != maker || status != 0) {
                throw std::runtime_error("initdb failed");
            }
            start();
        } catch (...) {
            stop(stop_mode::immediate);
            std::filesystem::remove_all(folder_);
            throw;
        }
    }
    postgres_server(const postgres_server&) = delete;
    postgres_server& operator=(const postgres_server&) = delete;
    ~postgres_server() {
        stop(stop_mode::immediate);
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }

    [[nodiscard]] std::string connection(const std::string& database = "postgres") const {
        return "host=" + folder_ + " user=spool dbname=" + database;
    }

    /// Starts the server and waits until it answers.
    void start() {
        std::vector<std::string> command{program("postgres"), "-D", folder_ + "/data", "-k", folder_, "-c",
                                         "listen_addresses="};
        for (const std::string& setting : settings_) {
            command.insert(command.end(), {"-c", setting});
        }
        process_ = spawn(command);
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds{60};
        while (PQping(connection().c_str()) != PQPING_OK) {
            if (std::chrono::steady_clock::now() > limit ||
                ::waitpid(process_, nullptr, WNOHANG) == process_) {
                throw std::runtime_error("PostgreSQL did not start: see " + folder_ + "/log");
            }
            std::this_thread::sleep_for(std::chrono::milliseconds{20});
        }
    }
    void stop(stop_mode mode) {
        if (process_ > 0) {
            ::kill(process_, static_cast<int>(mode));
            ::waitpid(process_, nullptr, 0);
            process_ = 0;
        }
    }

private:
    static std::string program(const std::string& name) {
        std::string best;
        std::error_code ignored;
        for (const auto& entry : std::filesystem::directory_iterator{"/usr/lib/postgresql", ignored}) {
            const std::string path = entry.path() / "bin" / name;
            if (std::filesystem::exists(path) && path > best) {
                best = path;
            }
        }
        if (best.empty()) {
            throw std::runtime_error("PostgreSQL is not installed (Debian: postgresql)");
        }
        return best;
    }

    // setpriv becomes the user and makes the program end with this process.
    pid_t spawn(std::vector<std::string> command) {
        std::vector<std::string> all{"setpriv"};
        if (!user_.empty()) {
            all.insert(all.end(), {"--reuid=" + user_, "--regid=" + user_, "--clear-groups"});
        }
        all.insert(all.end(), {"--pdeathsig=QUIT", "--"});
        all.insert(all.end(), command.begin(), command.end());
        std::vector<char*> arguments;
        for (std::string& argument : all) {
            arguments.push_back(argument.data());
        }
        arguments.push_back(nullptr);
        posix_spawn_file_actions_t files;
        posix_spawn_file_actions_init(&files);
        const std::string log = folder_ + "/log";
        posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                         0644);
        posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
        pid_t process = 0;
        const int error = posix_spawnp(&process, "setpriv", &files, nullptr, arguments.data(), environ);
        posix_spawn_file_actions_destroy(&files);
        if (error != 0) {
            throw std::runtime_error("cannot start " + command.front());
        }
        return process;
    }

    std::vector<std::string> settings_;
    std::string folder_;
    std::string user_;
    pid_t process_ = 0;
};

}  // namespace spool::remote_demo
