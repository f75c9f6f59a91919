#include "spool/remote/worker.hpp"

#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "spool/base/error.hpp"
#include "worker_core.hpp"

namespace spool::inline v1::remote {
namespace {

[[noreturn]] void wrong(const std::string& reason) {
    throw std::invalid_argument("remote::worker: " + reason);
}

const worker_options& checked(const worker_options& options) {
    if (options.broker == nullptr) {
        wrong("no broker");
    }
    if (options.queues.empty()) {
        wrong("no queue to take from");
    }
    for (const queue_weight& q : options.queues) {
        if (q.queue.empty() || q.weight == 0) {
            wrong("queue \"" + q.queue + "\" with weight " + std::to_string(q.weight) +
                  ": the name must not be empty, the weight must be positive");
        }
    }
    if (std::chrono::nanoseconds{options.lease} < std::chrono::milliseconds{100}) {
        wrong("the lease (" + std::to_string(std::chrono::nanoseconds{options.lease}.count() / 1'000'000) +
              " ms) must be at least 100 ms");
    }
    if (std::chrono::nanoseconds{options.poll} <= std::chrono::nanoseconds{0}) {
        wrong("poll must be positive");
    }
    return options;
}

// The one worker that waits for signals. A handler may only post a semaphore.
sem_t signal_arrived;
std::atomic<bool> signals_in_use{false};

extern "C" void on_signal(int) {
    const int saved = errno;
    sem_post(&signal_arrived);
    errno = saved;
}

}  // namespace

worker::worker(worker_options options) : core_(std::make_shared<detail::worker_core>(checked(options))) {}

worker::~worker() {
    core_->close();
}

void worker::add_handler(std::string_view name, std::uint64_t signature, std::string text,
                         detail::job_body body) {
    core_->add_handler(name, signature, std::move(text), std::move(body));
}

void worker::start() {
    core_->start();
}

void worker::run(std::stop_token stop) {
    core_->run(std::move(stop));
}

void worker::run_until_signal(std::initializer_list<int> signals) {
    if (signals_in_use.exchange(true)) {
        throw std::logic_error("remote::worker: another worker of this process waits for signals");
    }
    sem_init(&signal_arrived, 0, 0);
    std::vector<std::pair<int, struct sigaction>> old;
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    for (const int number : signals) {
        old.emplace_back(number, decltype(action){});
        sigaction(number, &action, &old.back().second);
    }
    const auto restore = [&] {
        for (const auto& [number, before] : old) {
            sigaction(number, &before, nullptr);
        }
        signals_in_use = false;
    };
    try {
        core_->start();
    } catch (...) {
        restore();
        throw;
    }
    while (sem_wait(&signal_arrived) != 0) {}
    core_->close();
    restore();
}

void worker::close() {
    core_->close();
}

worker_counts worker::counts() const {
    return core_->counts();
}

const std::string& worker::id() const noexcept {
    return core_->id();
}

}  // namespace spool::inline v1::remote
