// A worker is started: counted, enrolled, and its thread made by the factory.
//
// The thread may begin, and even end, before the factory has returned its handle. So a worker is in the list before the factory
// is called, and the handle is put into it afterwards, or at once among those to be joined.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <system_error>
#include <typeinfo>
#include <utility>

#include "pool/pool_core.hpp"
#include "pool/worker_body.hpp"
#include "spool/base/error.hpp"
#include "spool/base/pause_point.hpp"

namespace spool::inline v1 {

// `*first` is moved from only if the answer is `started`.
auto thread_pool_executor::core::start_worker(task* first, bound limit, std::exception_ptr& error)
    -> start_result {
    return steps().start_worker(first, limit, error);
}

// What the factory threw, with the pool's name in front of the text where that keeps the type: a std::system_error (of
// std::thread and of our factory) or a std::runtime_error. Any other exception is thrown as it is.
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

// While one was being started in vain, others may have queued tasks in the belief that there was a worker. They have nobody else, so
// one more failure is not the end.
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

// Before the failed worker is counted out, and whoever waits for the end looks whether a thread can be hoped for.
void thread_pool_executor::core::note_start_failure(std::exception_ptr error) noexcept {
    {
        const detail::lock_guard lock{workers_mutex_};
        start_error_.swap(error);
    }
    start_failed_.store(true);
    const detail::unwatched_release quiet;  // another thread may still handle the previous exception
    error = nullptr;                        // not under the lock: calls the exception's destructor
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
    // A factory may throw, or return nothing, and its thread run all the same: it just cannot be joined.
    return strike_off(*w, first) ? start_result::failed : start_result::started;
}

// Puts a new worker into the list, unless the pool has shut down since it was counted. To move a
// task calls user code, so the worker gets it before the lock, and gives it back after the lock if
// the worker does not stay.
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

// False: there is no thread that would run the body.
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
        thread.join();  // ended already, or a thread that dropped the body: it is about to end
    }
    return stage != worker_stage::dropped;
}

// Under workers_mutex_, once there is a thread. A dying worker and its successor share one place in the control word.
void thread_pool_executor::core::count_alive(worker& w) {
    if (!std::exchange(w.counted, true)) {
        ++alive_;
        largest_ = std::max(largest_, std::min(alive_, control().workers));
    }
}

// False: it runs after all.
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

// A factory destroyed the body without running it: before it returned (the starter will see), or later, in its thread.
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
        note_left_here();  // from now on others may join this thread
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

// Submits the first task of a worker that has lost its thread. Reports what the queue throws, and counts the task as rejected
// if the pool does not take it.
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
    if (!first.empty() && unprepare(first)) {  // empty: the queue had taken it before it threw
        count_rejection(first, rejection_reason::no_thread);
    }
}

}  // namespace spool::inline v1
