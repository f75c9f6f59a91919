#include "spool/executor/thread_per_task_executor.hpp"

#include <algorithm>
#include <iterator>
#include <list>
#include <optional>
#include <thread>
#include <utility>

#include "spool/base/error.hpp"
#include "spool/detail/mutex.hpp"
#include "spool/detail/task_scope.hpp"

namespace spool::inline v1 {

// Every thread is in one of two lists: in running_ until its task has ended, then in finished_
// until another thread joins it. A thread that finishes joins the threads that finished before it.
// So at most one thread stays unjoined until the end.
class thread_per_task_executor::threads : public std::enable_shared_from_this<threads> {
public:
    explicit threads(std::string name) : name_("thread_per_task_executor \"" + std::move(name) + "\"") {}

    void start(task work) {
        std::string numbers;
        if (const auto refused = try_start(work, numbers)) {
            throw rejected_execution(*refused, name_, numbers);
        }
    }

    void shutdown() {
        const detail::lock_guard lock{mutex_};
        shut_down_ = true;
        if (running_.empty()) {
            terminated_.notify_all();  // pair (M): mutex_
        }
    }

    // Requests stop of one task after the other, outside the lock: stop callbacks are user code.
    void stop_all() {
        for (;;) {
            std::stop_source source{std::nostopstate};
            {
                const detail::lock_guard lock{mutex_};
                stopping_ = true;
                const auto next = std::find_if(running_.begin(), running_.end(), [](const entry& e) {
                    return e.scope != nullptr && !e.stop_requested;
                });
                if (next == running_.end()) {
                    // Threads that have not opened their scope yet will see stopping_.
                    return;
                }
                next->stop_requested = true;
                source = next->scope->interrupt();
            }
            detail::request_stop_of(source);
        }
    }

    bool is_shutdown() {
        const detail::lock_guard lock{mutex_};
        return shut_down_;
    }
    bool is_terminated() {
        const detail::lock_guard lock{mutex_};
        return shut_down_ && running_.empty();
    }
    std::size_t count() {
        const detail::lock_guard lock{mutex_};
        return running_.size();
    }

    wait_result wait_terminated(const wait_limits& limits) {
        return terminated_.await([this] { return is_terminated(); }, limits);
    }
    // On a thread of this executor: waits until only threads that have called close() too are left.
    wait_result wait_closed(const wait_limits& limits) {
        bool is_foreign_thread = false;
        {
            const detail::lock_guard lock{mutex_};
            const auto own = find_current();
            is_foreign_thread = own == running_.end();
            if (!is_foreign_thread) {
                own->has_called_close = true;
                terminated_.notify_all();  // pair (M): mutex_
            }
        }
        if (is_foreign_thread) {  // until every task has ended, also a task that has called close()
            return wait_terminated(limits);
        }
        return terminated_.await(
            [this] {
                const detail::lock_guard lock{mutex_};
                return shut_down_ && std::all_of(running_.begin(), running_.end(),
                                                 [](const entry& e) { return e.has_called_close; });
            },
            limits);
    }

    // Called while the executor is destroyed, after close(). Joins the threads that have left, and
    // detaches the calling thread if it belongs to the executor.
    void release_threads() {
        std::list<entry> finished;
        {
            const detail::lock_guard lock{mutex_};
            finished.swap(finished_);
            if (const auto own = find_current(); own != running_.end()) {
                own->thread.detach();
            }
        }
        join(finished);
    }

private:
    struct entry {
        std::thread thread;
        task work;
        task_scope* scope = nullptr;  // while the task runs
        bool stop_requested = false;
        bool has_called_close = false;
    };
    using position = std::list<entry>::iterator;

    // Starts the task. On failure returns the reason, fills `numbers` and gives `work` back. Moving
    // a task calls user code, so the task moves into its entry before the lock, and out of it after
    // the lock.
    std::optional<rejection_reason> try_start(task& work, std::string& numbers) {
        std::list<entry> one;
        one.push_back({.thread = {}, .work = std::move(work)});
        const std::optional<rejection_reason> refused = try_start_entry(one, numbers);
        if (refused) {
            work = std::move(one.front().work);
        }
        return refused;
    }
    std::optional<rejection_reason> try_start_entry(std::list<entry>& one, std::string& numbers) {
        const detail::lock_guard lock{mutex_};
        if (shut_down_) {
            numbers = "threads running " + std::to_string(running_.size());
            return rejection_reason::shut_down;
        }
        running_.splice(running_.end(), one);
        const auto self = std::prev(running_.end());
        try {
            // The new thread touches its entry only after it has locked, so the handle is there.
            self->thread = std::thread([owner = shared_from_this(), self] { owner->run(self); });
        } catch (...) {
            one.splice(one.end(), running_, self);
            numbers =
                describe(std::current_exception()) + "; threads running " + std::to_string(running_.size());
            return rejection_reason::no_thread;
        }
        return std::nullopt;
    }

    position find_current() SPOOL_REQUIRES(mutex_) {
        return std::find_if(running_.begin(), running_.end(),
                            [](const entry& e) { return e.thread.get_id() == std::this_thread::get_id(); });
    }

    static void join(std::list<entry>& finished) {
        for (entry& e : finished) {
            if (e.thread.get_id() == std::this_thread::get_id()) {
                e.thread.detach();  // a thread_local of this thread destroys the executor
            } else {
                e.thread.join();
            }
        }
    }

    void run(position self) {
        {
            bool stop_at_once = false;
            { const detail::lock_guard until_started{mutex_}; }
            task work = std::move(self->work);  // not under the lock: only this thread uses it
            task_scope scope{work};
            {
                const detail::lock_guard lock{mutex_};
                self->scope = &scope;
                stop_at_once = stopping_;
            }
            if (stop_at_once) {
                std::stop_source source = scope.interrupt();
                detail::request_stop_of(source);
            }
            call(work, scope);
            const detail::lock_guard lock{mutex_};
            self->scope = nullptr;  // from here on no thread can stop it
        }
        finish(self);
    }

    void call(task& work, task_scope& scope) noexcept {
        try {
            work();
        } catch (...) {
            if (!is_normal_exit(std::current_exception(), &scope)) {
                report_uncaught(name_, std::current_exception());
            }
        }
    }

    void finish(position self) {
        std::list<entry> finished_before;
        {
            const detail::lock_guard lock{mutex_};
            finished_before.swap(finished_);
            if (self->thread.joinable()) {
                finished_.splice(finished_.end(), running_, self);
            } else {
                running_.erase(self);  // detached by release_threads(): no thread will join it
            }
            terminated_.notify_all();  // pair (M): mutex_
        }
        join(finished_before);
    }

    const std::string name_;
    detail::mutex mutex_;  // guards everything below; never held while user code runs
    std::list<entry> running_ SPOOL_GUARDED_BY(mutex_);
    std::list<entry> finished_ SPOOL_GUARDED_BY(mutex_);
    bool shut_down_ SPOOL_GUARDED_BY(mutex_) = false;
    bool stopping_ SPOOL_GUARDED_BY(mutex_) = false;
    event_count terminated_;  // notified when a thread finishes, at close() and shutdown()
};

thread_per_task_executor::thread_per_task_executor(std::string name)
    : threads_(std::make_shared<threads>(std::move(name))) {}

thread_per_task_executor::~thread_per_task_executor() {
    close();
    threads_->release_threads();
}

void thread_per_task_executor::execute(task work) {
    require_callable(work, "thread_per_task_executor");
    threads_->start(std::move(work));
}

void thread_per_task_executor::shutdown() {
    threads_->shutdown();
}

std::vector<task> thread_per_task_executor::shutdown_now() {
    threads_->shutdown();
    threads_->stop_all();
    return {};
}

bool thread_per_task_executor::is_shutdown() const {
    return threads_->is_shutdown();
}

bool thread_per_task_executor::is_terminated() const {
    return threads_->is_terminated();
}

bool thread_per_task_executor::await_termination_until(deadline until, std::stop_token stop) {
    const wait_result how = threads_->wait_terminated({.until = until, .stop = std::move(stop)});
    if (how == wait_result::interrupted) {
        throw interrupted("thread_per_task_executor::await_termination: stop requested");
    }
    return how == wait_result::ready;
}

void thread_per_task_executor::close() {
    shutdown();
    if (threads_->wait_closed({.stop = task_scope::current_token_or_none()}) == wait_result::interrupted) {
        threads_->stop_all();
        static_cast<void>(threads_->wait_closed({}));
    }
}

std::size_t thread_per_task_executor::thread_count() const {
    return threads_->count();
}

}  // namespace spool::inline v1
