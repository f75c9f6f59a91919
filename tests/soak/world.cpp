#include "world.hpp"

#include <chrono>

namespace soak {

slot*& worker_of() noexcept {
    static thread_local slot* mine = nullptr;
    return mine;
}

managed::managed(slot& at, std::unique_ptr<spool::thread_pool_executor> pool) noexcept
    : at_(at), pool_(std::move(pool)) {
    at_.raw = pool_.get();
}

// On one of its own workers the pool terminates inside its destructor, so there is no final
// snapshot.
managed::~managed() {
    if (worker_of() != &at_) {
        if (dynamic_cast<spool::scheduled_thread_pool_executor*>(pool_.get()) != nullptr) {
            pool_->shutdown();
            // A cancelled task may stay in the queue until it is due, so purge() removes it.
            // Without a worker only close() makes progress.
            while (!pool_->await_termination(std::chrono::milliseconds{1}, {}) && pool_->pool_size() != 0) {
                static_cast<void>(pool_->purge());
            }
            static_cast<void>(pool_->purge());
        }
        pool_->close();
        at_.last = pool_->snapshot();
    }
    pool_.reset();
    at_.discards = at_.discards || spool::this_task::stop_requested();
    at_.raw = nullptr;
}

world::world(std::uint64_t seed_of_round, plant what) : seed(seed_of_round), planted(what) {}

void world::report(std::string problem) {
    const std::lock_guard lock{mutex};
    problems.push_back(std::move(problem));
}

void world::note(spool::task_id id, std::atomic<int> entry::*field) {
    const std::lock_guard lock{mutex};
    seen.emplace_back(id, field);
}

void world::keep(std::vector<spool::task> back) {
    const std::lock_guard lock{mutex};
    for (spool::task& t : back) {
        kept.push_back(std::move(t));
    }
}

}  // namespace soak
