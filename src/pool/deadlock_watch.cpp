#include "pool/deadlock_watch.hpp"

#include <cstdio>
#include <utility>

#include "base/when_forking.hpp"
#include "pool/deadlock_finder.hpp"
#include "spool/base/error.hpp"
#include "spool/base/mutex.hpp"

namespace spool::inline v1 {

// Never destroyed, and made anew in a forked child: whoever waited is not there.
struct thread_pool_executor::core::deadlock_watch::list {
    // However many wait, they look no more often than this.
    static constexpr std::chrono::milliseconds least_between_looks{100};

    detail::mutex mutex;
    blocked_wait* first SPOOL_GUARDED_BY(mutex) = nullptr;
    std::size_t last_number SPOOL_GUARDED_BY(mutex) = 0;  // of a deadlock
    deadline::time_point next_look SPOOL_GUARDED_BY(mutex){};

    static constinit list all;
    static const bool watching;

    void add(blocked_wait& wait) {
        const detail::lock_guard lock{mutex};
        wait.next = first;
        if (first != nullptr) {
            first->link_here = &wait.next;
        }
        first = &wait;
        wait.link_here = &first;
    }
    void remove(blocked_wait& wait) noexcept {
        const detail::lock_guard lock{mutex};
        *wait.link_here = wait.next;
        if (wait.next != nullptr) {
            wait.next->link_here = wait.link_here;
        }
    }
    bool may_look() {
        const deadline::time_point now = deadline::clock::now();
        const detail::lock_guard lock{mutex};
        if (now < next_look) {
            return false;
        }
        next_look = now + least_between_looks;
        return true;
    }
    std::vector<finding> find() {
        const detail::lock_guard lock{mutex};
        return finder{first}.find(last_number);
    }
    std::string doom_of(const blocked_wait& wait) {
        const detail::lock_guard lock{mutex};
        return wait.doom;
    }
    // An extra thread was started: if they are stuck again, that is another deadlock.
    void forget(std::size_t number) {
        const detail::lock_guard lock{mutex};
        for (blocked_wait* w = first; w != nullptr; w = w->next) {
            w->reported = w->reported == number ? 0 : w->reported;
        }
    }
    void begin_anew() SPOOL_RELEASE(mutex) {
        first = nullptr;
        mutex.unlock();
    }
};

constinit thread_pool_executor::core::deadlock_watch::list
    thread_pool_executor::core::deadlock_watch::list::all{};
const bool thread_pool_executor::core::deadlock_watch::list::watching =
    when_forking([]() SPOOL_ACQUIRE(all.mutex) { all.mutex.lock(); },
                 []() SPOOL_RELEASE(all.mutex) { all.mutex.unlock(); },
                 []() SPOOL_RELEASE(all.mutex) { all.begin_anew(); });

wait_result thread_pool_executor::core::deadlock_watch::wait(core& pool, blocked_wait::what kind,
                                                             const std::stop_token& stop,
                                                             function_ref<wait_result(deadline)> sleep) {
    auto* const worker = dynamic_cast<self_service*>(nested_waiter::current());
    if (worker == nullptr) {
        return sleep(deadline::never());
    }
    if (const wait_result how = sleep(deadline::after(first_look)); how != wait_result::timed_out) {
        return how;
    }
    blocked_wait here{.worker = worker,
                      .scope = task_scope::current(),
                      .kind = kind,
                      .futures = {},
                      .pool = &pool,
                      .stop = &stop};
    return go_on(here, sleep);
}

wait_result thread_pool_executor::core::self_service::wait_for(std::span<const future_link> any,
                                                               const std::stop_token& stop,
                                                               function_ref<wait_result(deadline)> sleep) {
    blocked_wait here{.worker = this,
                      .scope = task_scope::current(),
                      .kind = blocked_wait::what::futures,
                      .futures = any,
                      .pool = nullptr,
                      .stop = &stop};
    return deadlock_watch::go_on(here, sleep);
}

wait_result thread_pool_executor::core::deadlock_watch::go_on(blocked_wait& wait,
                                                              function_ref<wait_result(deadline)> sleep) {
    struct entry {
        blocked_wait& wait;
        explicit entry(blocked_wait& w) : wait(w) { list::all.add(wait); }
        entry(const entry&) = delete;
        entry& operator=(const entry&) = delete;
        ~entry() { list::all.remove(wait); }
    };
    for (self_service* at = wait.worker; at != nullptr; at = at->outer()) {
        at->pool().note_growth();
    }
    const entry in_list{wait};
    for (;;) {
        if (list::all.may_look()) {
            look();
        }
        if (const std::string doom = list::all.doom_of(wait); !doom.empty()) {
            throw deadlock(doom);
        }
        if (const wait_result how = sleep(deadline::after(between_looks)); how != wait_result::timed_out) {
            return how;
        }
        wait.worker->pool().note_growth();
    }
}

std::size_t thread_pool_executor::core::deadlock_watch::look() {
    std::vector<finding> found;
    try {
        found = list::all.find();
    } catch (const std::bad_alloc&) {  // the next look may have the memory
    }
    for (const finding& one : found) {
        one.teller->on_deadlock_(one.report);
        if (one.lender != nullptr && one.lender->lend_thread(one.wanted)) {
            list::all.forget(one.number);
        }
    }
    return found.size();
}

std::size_t thread_pool_executor::core::deadlock_watch::waiting() {
    const detail::lock_guard lock{list::all.mutex};
    std::size_t n = 0;
    for (const blocked_wait* w = list::all.first; w != nullptr; w = w->next) {
        ++n;
    }
    return n;
}

std::size_t thread_pool_executor::look_for_deadlocks() {
    return core::deadlock_watch::look();
}
std::size_t thread_pool_executor::watched_waits() {
    return core::deadlock_watch::waiting();
}
std::size_t detail::look_for_deadlocks() {
    return thread_pool_executor::look_for_deadlocks();
}
std::size_t detail::watched_waits() {
    return thread_pool_executor::watched_waits();
}

std::string to_string(const deadlock_report& report) {
    std::string text = std::to_string(report.workers.size()) +
                       " worker(s) wait for each other, and nobody else can help them";
    text += report.remedy.empty() ? "" : "; " + report.remedy;
    for (const deadlocked_worker& w : report.workers) {
        text += "\n  worker " + w.worker + " of pool \"" + w.pool + "\", in task " + std::to_string(w.task) +
                ", waits " + w.why;
    }
    return text;
}

void deadlock_policy::operator()(const deadlock_report& report) const noexcept {
    try {
        if (handler_ != nullptr) {
            handler_(report);
            return;
        }
        const std::string text = "spool: deadlock: " + to_string(report) + "\n";
        std::fwrite(text.data(), 1, text.size(), stderr);
    } catch (...) {
        report_uncaught("the handler of a deadlock", std::current_exception());
    }
}

}  // namespace spool::inline v1
