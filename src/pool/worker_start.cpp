// A worker is started: counted in, enrolled, and its thread made by the factory.
//
// The thread may begin, and even end, before the factory has returned its handle. So the worker is
// in the list before the factory is called. The starter stores the handle afterwards, or joins the
// thread if the worker has ended.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <system_error>
#include <typeinfo>
#include <utility>

#include "pool/pool_core.hpp"
#include "pool/worker_body.hpp"
#include "spool/base/error.hpp"
#include "spool/detail/pause_point.hpp"

namespace spool::inline v1 {

// Moves from `*first` only if it returns `started`.
auto thread_pool_executor::core::start_worker(task* first, bound limit, std::exception_ptr& error)
    -> start_result {
    return steps().start_worker(first, limit, error);
}

// Throws what the factory threw, with the pool's name in front of the text where that keeps the
// type: a std::system_error (of std::thread and of our factory) or a std::runtime_error. Throws any
// other exception as it is.
void thread_pool_executor::core::rethrow_start_error(const std::exception_ptr& error) const {
    const auto named = [this](const char* text) {
        return "thread_pool_executor \"" + name_ + "\": no thread: " + text;
    };
    try {
        std::rethrow_exception(error);
    } catch (const std::runtime_error& e) {
        std::exception_ptr better = error;
        try {
            if (typeid(e) == typeid(std::runtime_error)) {
                better = std::make_exception_ptr(std::runtime_error(named(e.what())));
            } else if (typeid(e) == typeid(std::system_error)) {
                const std::error_code code = static_cast<const std::system_error&>(e).code();
                std::string text = named(e.what());
                const std::string tail = ": " + code.message();  // the constructor adds it
                if (text.ends_with(tail)) {
                    text.resize(text.size() - tail.size());
                }
                better = std::make_exception_ptr(std::system_error(code, text));
            }
        } catch (const std::bad_alloc&) {  // then without the name
        }
        std::rethrow_exception(better);
    }
}

// While a start was failing, other submitters may have queued tasks for that worker. No other
// worker will run those tasks, so the pool tries again, up to eight times.
void thread_pool_executor::core::try_for_the_stranded() {
    constexpr int enough = 8;
    for (int attempt = 0; attempt < enough; ++attempt) {
        const pool_control c = control();
        if (!runs_queue(c.state) || c.workers != 0 || queue_is_empty()) {
            return;
        }
        std::exception_ptr error;
        start_worker(nullptr, bound::maximum_size, error);
    }
}

auto thread_pool_executor::core::launch(task* first, std::exception_ptr& error,
                                        std::optional<task_id> lent_for) -> start_result {
    const start_result result = try_launch(first, error, lent_for);
    if (result == start_result::failed) {
        note_start_failure(error);
    } else if (result == start_result::started && start_failed_.load()) {
        start_failed_.store(false);
    }
    return result;
}

// Precondition: the failed worker is still counted in. So a thread that waits for the end sees
// start_failed_ by the time it sees no worker.
void thread_pool_executor::core::note_start_failure(std::exception_ptr error) noexcept {
    {
        const detail::lock_guard lock{workers_mutex_};
        start_error_.swap(error);
    }
    start_failed_.store(true);
    // Another thread may still handle the previous exception, whose destructor is user code.
    const detail::unwatched_release quiet;
    error = nullptr;
}

std::exception_ptr thread_pool_executor::core::last_start_error() const {
    const detail::lock_guard lock{workers_mutex_};
    return start_error_;
}

auto thread_pool_executor::core::try_launch(task* first, std::exception_ptr& error,
                                            std::optional<task_id> lent_for) -> start_result {
    std::shared_ptr<worker> w;
    try {
        w = enrol(first);
        if (w == nullptr) {
            return start_result::not_allowed;
        }
        w->lent_for = lent_for;
        worker_thread thread = thread_factory()(task{worker_body{shared_from_this(), w}}, w->info);
        SPOOL_PAUSE_POINT("start: the thread runs");
        if (keep_thread(w, std::move(thread))) {
            return start_result::started;
        }
    } catch (...) {
        error = std::current_exception();
        if (w == nullptr) {
            return start_result::failed;
        }
    }
    // A factory may throw, or return nothing, though its thread runs: that thread cannot be joined.
    return strike_off(*w, first) ? start_result::failed : start_result::started;
}

// Puts a new worker into the list. Returns null if the pool has shut down since the worker was
// counted in. To move a task calls user code, so the worker gets it before the lock, and gives it
// back after the lock if the worker does not stay.
std::shared_ptr<worker> thread_pool_executor::core::enrol(task* first) {
    auto w = std::make_shared<worker>();
    w->info.pool = name_;
    struct give_back {
        task* to;
        worker& from;
        ~give_back() {
            if (to != nullptr) {
                *to = std::move(from.first);
            }
        }
    } unless_enrolled{first, *w};
    if (first != nullptr) {
        w->first = std::move(*first);
        w->holds_first = true;
        w->started.store(1);
        w->depth.store(1);
    }
    const detail::lock_guard lock{workers_mutex_};
    const run_state state = control().state;
    if (!accepts_tasks(state) && (first != nullptr || !runs_queue(state))) {
        return nullptr;
    }
    w->info.number = last_number_ + 1;
    w->info.name = name_ + "-" + std::to_string(w->info.number);
    w->position = workers_.insert(workers_.end(), w);
    ++last_number_;
    unless_enrolled.to = nullptr;
    return w;
}

// Stores the thread in the worker. Returns false if no thread will run the body.
bool thread_pool_executor::core::keep_thread(const std::shared_ptr<worker>& self, worker_thread&& thread) {
    worker& w = *self;
    worker_stage stage;
    {
        const detail::lock_guard lock{workers_mutex_};
        stage = w.stage;
        if (stage == worker_stage::starting || stage == worker_stage::working) {
            const bool runs = thread || stage == worker_stage::working;
            w.thread = std::move(thread);
            if (runs) {
                count_alive(w);
            }
            return runs;
        }
    }
    if (thread && stage == worker_stage::let_go) {
        thread.detach();
    } else if (thread && (stage != worker_stage::ended || !leave_to_others(self, thread))) {
        thread.join();  // it has ended, or has dropped the body and is about to end
    }
    return stage != worker_stage::dropped;
}

// Precondition: the worker has a thread. The minimum: a dying worker and its successor share one
// place in the control word.
void thread_pool_executor::core::count_alive(worker& w) {
    if (!std::exchange(w.counted, true)) {
        ++alive_;
        largest_ = std::max(largest_, std::min(alive_, control().workers));
    }
}

// Gives the worker up and gives `*first` back. Returns false if the body runs after all.
bool thread_pool_executor::core::strike_off(worker& w, task* first) {
    {
        const detail::lock_guard lock{workers_mutex_};
        if (w.stage != worker_stage::starting && w.stage != worker_stage::dropped) {
            return false;
        }
        w.stage = worker_stage::void_;
        workers_.erase(w.position);
    }
    if (first != nullptr) {  // not under the lock: to move a task calls user code
        *first = std::move(w.first);
    }
    return true;
}

// The factory destroyed the body without running it: either before the factory returned, which the
// starter will see, or later, in the factory's thread.
void thread_pool_executor::core::body_dropped(worker& w) noexcept {
    {
        const detail::lock_guard lock{workers_mutex_};
        if (w.stage != worker_stage::starting) {
            return;
        }
        w.stage = worker_stage::dropped;
        if (!w.thread) {
            return;
        }
        note_left_here();  // from now on other threads may join this thread
        left_.splice(left_.end(), workers_, w.position);
        if (w.counted) {
            --alive_;
        }
    }
    task first = std::move(w.first);  // not under the lock: to move a task calls user code
    const std::exception_ptr error =
        std::make_exception_ptr(std::logic_error("the thread factory dropped the body of a worker"));
    note_start_failure(error);
    control_.release_worker();
    tell_of_free_place();
    uncaught(w.info, error);
    guarded(w.info, [&] { admit_again(w, first); });
    guarded(w.info, [this] { try_for_the_stranded(); });
    guarded(w.info, [this] { try_terminate(); });
}

// Submits the first task of a worker that has lost its thread. Reports what the queue throws, and
// counts the task as rejected if the pool does not take it.
void thread_pool_executor::core::admit_again(worker& w, task& first) {
    if (first.empty()) {
        return;
    }
    try {
        std::exception_ptr start_error;
        if (admit(first, start_error) == admission_result::accepted) {
            return;
        }
    } catch (...) {
        uncaught(w.info, std::current_exception());
    }
    if (!first.empty() && backlog_.try_withdraw(first)) {  // empty: the queue had taken it before it threw
        count_rejection(first, rejection_reason::no_thread);
    }
}

}  // namespace spool::inline v1
