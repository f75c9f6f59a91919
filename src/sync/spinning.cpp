#include "spool/detail/spinning.hpp"

#include <bit>
#include <memory>
#include <thread>

#include "base/cgroup.hpp"
#include "spool/base/default_parallelism.hpp"
#include "spool/detail/backoff.hpp"
#include "sync/throttle_watch.hpp"

namespace spool::inline v1 {
namespace {

constexpr unsigned pauses_per_round = 4;
// The thread waited for may be on this CPU, just woken. So the first yield comes early, and further
// yields are rare at first.
constexpr unsigned first_yield = 4;
constexpr unsigned last_rare_yield = 32;

constinit std::atomic<bool> can_help{false};
// Never destroyed: threads may wait while the process ends. Null: spinning cannot help, or there
// was no memory.
constinit std::atomic<detail::throttle_watch*> watch{nullptr};
constinit thread_local future_waits this_threads_waits;

}  // namespace

bool spin_loop::next() noexcept {
    for (unsigned i = 0; i < pauses_per_round; ++i) {
        backoff::relax();
    }
    ++rounds_;
    if (yields_ && (rounds_ > last_rare_yield || (rounds_ >= first_yield && std::has_single_bit(rounds_)))) {
        std::this_thread::yield();
    }
    return deadline::clock::now() < until_;
}

bool can_spinning_help() noexcept {
    return can_help.load(std::memory_order_relaxed);  // relaxed, hint
}

bool is_spinning_worthwhile() noexcept {
    // acquire: the contents of the watch
    const detail::throttle_watch* const w = watch.load(std::memory_order_acquire);
    return w != nullptr && w->may_spin();
}

bool is_spinning_worthwhile(deadline::time_point now) noexcept {
    // acquire: the contents of the watch
    detail::throttle_watch* const w = watch.load(std::memory_order_acquire);
    return w != nullptr && w->may_spin(now);
}

void detect_whether_spinning_can_help() noexcept {
    static const bool has_several_cpus = [] {
        if (default_parallelism() < 2) {
            return false;
        }
        try {
            auto created = std::make_unique<detail::throttle_watch>(detail::cpu_cgroup_folders(),
                                                                    deadline::clock::now());
            watch.store(created.release());
        } catch (...) {  // no memory: then no wait spins unless it is told to
        }
        return true;
    }();
    can_help.store(has_several_cpus, std::memory_order_relaxed);  // relaxed, hint
}

future_waits& waits_of_this_thread() noexcept {
    return this_threads_waits;
}

}  // namespace spool::inline v1
