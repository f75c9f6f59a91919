#include "spool/pool/thread_factory.hpp"

#include <algorithm>
#include <utility>

#include "pool/threads/thread_setup.hpp"
#include "spool/base/error.hpp"
#include "spool/detail/mutex.hpp"

namespace spool::inline v1 {
namespace {

class std_thread_handle final : public worker_thread::handle {
public:
    explicit std_thread_handle(std::thread thread) noexcept : thread_(std::move(thread)) {}
    void join() override { thread_.join(); }
    void detach() override { thread_.detach(); }

private:
    std::thread thread_;
};

void replace(std::string& text, const std::string& what, const std::string& with) {
    if (const std::size_t at = text.find(what); at != std::string::npos) {
        text.replace(at, what.size(), with);
    }
}

// Chooses the set of CPUs for each new thread.
class cpu_sets : public std::enable_shared_from_this<cpu_sets> {
public:
    explicit cpu_sets(std::vector<std::vector<int>> sets) : sets_(std::move(sets)), uses_(sets_.size()) {}

    [[nodiscard]] cpu_lease lend() {
        const std::size_t chosen = choose();
        // shared_ptr calls the deleter also if there is no memory for its count.
        return {&sets_[chosen], [self = shared_from_this(), chosen](const std::vector<int>*) {
                    const detail::lock_guard lock{self->mutex_};
                    --self->uses_[chosen];
                }};
    }

private:
    // The set that the fewest threads have; among equals the caller's own, because a worker that
    // dies starts its successor itself.
    std::size_t choose() {
        const detail::lock_guard lock{mutex_};
        const auto fewest = std::min_element(uses_.begin(), uses_.end());
        auto chosen = static_cast<std::size_t>(fewest - uses_.begin());
        for (std::size_t i = 0; i < sets_.size(); ++i) {
            if (&sets_[i] == lease_of_this_thread() && uses_[i] == *fewest) {
                chosen = i;
            }
        }
        ++uses_[chosen];
        return chosen;
    }

    const std::vector<std::vector<int>> sets_;
    detail::mutex mutex_;
    std::vector<std::size_t> uses_ SPOOL_GUARDED_BY(mutex_);  // living threads per set
};

}  // namespace

worker_thread::handle::~handle() = default;

worker_thread::worker_thread(std::thread thread) {
    if (!thread.joinable()) {
        return;
    }
    try {
        handle_ = std::make_unique<std_thread_handle>(std::move(thread));
    } catch (...) {  // no memory for the handle: the thread runs, but cannot be joined
        if (thread.joinable()) {
            thread.detach();
        }
        throw;
    }
}
worker_thread::worker_thread(std::unique_ptr<handle> other) noexcept : handle_(std::move(other)) {}
worker_thread::worker_thread(worker_thread&&) noexcept = default;
worker_thread& worker_thread::operator=(worker_thread&&) noexcept = default;
worker_thread::~worker_thread() = default;

void worker_thread::join() {
    std::exchange(handle_, nullptr)->join();
}
void worker_thread::detach() {
    std::exchange(handle_, nullptr)->detach();
}

std::string worker_thread_name(const std::string& pattern, const worker_info& info, std::size_t limit) {
    const auto filled = [&](const std::string& pool) {
        std::string name = pattern;
        replace(name, "{pool}", pool);
        replace(name, "{number}", std::to_string(info.number));
        return name;
    };
    std::string name = filled(info.pool);
    if (name.size() > limit) {  // the pool's name gives way first
        const std::size_t excess = std::min(name.size() - limit, info.pool.size());
        name = filled(info.pool.substr(0, info.pool.size() - excess));
    }
    if (name.size() > limit) {  // then the front of the rest: the number is at the end
        name.erase(0, name.size() - limit);
    }
    return name;
}

thread_factory worker_thread_factory(worker_thread_options options) {
    std::shared_ptr<cpu_sets> sets;
    if (!options.affinity_per_thread.empty()) {
        sets = std::make_shared<cpu_sets>(options.affinity_per_thread);
    }
    return [options = std::move(options), sets = std::move(sets)](task body, const worker_info& info) {
        return start_thread(options, std::move(body), info, sets != nullptr ? sets->lend() : nullptr);
    };
}

}  // namespace spool::inline v1
