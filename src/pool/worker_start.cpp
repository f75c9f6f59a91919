// A worker is started: counted in, enlisted, and its thread made by the factory.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <system_error>
#include <typeinfo>
#include <utility>

#include "pool/pool.hpp"
#include "pool/worker_body.hpp"
#include "spool/base/error.hpp"
#include "spool/detail/pause_point.hpp"

namespace spool::inline v1 {

// Moves from `*first` only if it returns `started`.
auto detail::pool::start_worker(task* first, bound limit, std::exception_ptr& error) -> start_result {
    return steps().start_worker(first, limit, error);
}

// Throws what the factory threw, with the pool's name in front of the text where that keeps the
// type: a std::system_error (of std::thread and of our factory) or a std::runtime_error. Throws any
// other exception as it is.
void detail::pool::rethrow_start_error(const std::exception_ptr& error) const {
    const auto named = [this](const char* text) { return config.label + ": no thread: " + text; };
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
void detail::pool::try_for_the_stranded() {
    constexpr int enough = 8;
    for (int attempt = 0; attempt < enough; ++attempt) {
        const pool_control c = control.load();
        if (!runs_queue(c.state) || c.workers != 0 || queue_is_empty()) {
            return;
        }
        std::exception_ptr error;
        start_worker(nullptr, bound::maximum_size, error);
    }
}

// A failure is noted while the failed worker is still counted in. So a thread that waits for the end
// knows of the failure by the time it sees no worker.
auto detail::pool::launch(task* first, std::exception_ptr& error, std::optional<task_id> lent_for)
    -> start_result {
    const start_result result = try_launch(first, error, lent_for);
    if (result == start_result::failed) {
        roster.note_start_failure(error);
    } else if (result == start_result::started) {
        roster.note_start();
    }
    return result;
}

auto detail::pool::try_launch(task* first, std::exception_ptr& error, std::optional<task_id> lent_for)
    -> start_result {
    std::shared_ptr<worker> w;
    try {
        w = roster.enlist(first);
        if (w == nullptr) {
            return start_result::not_allowed;
        }
        w->lent_for = lent_for;
        worker_thread thread = settings.factory()(task{worker_body{shared_from_this(), w}}, w->info);
        SPOOL_PAUSE_POINT("start: the thread runs");
        if (roster.keep_thread(w, std::move(thread))) {
            return start_result::started;
        }
    } catch (...) {
        error = std::current_exception();
        if (w == nullptr) {
            return start_result::failed;
        }
    }
    // A factory may throw, or return nothing, though its thread runs: that thread cannot be joined.
    return roster.strike_off(*w, first) ? start_result::failed : start_result::started;
}

// The factory destroyed the body without running it.
void detail::pool::body_dropped(worker& w) noexcept {
    std::optional<task> first = roster.drop(w);
    if (!first.has_value()) {
        return;
    }
    const std::exception_ptr error =
        std::make_exception_ptr(std::logic_error("the thread factory dropped the body of a worker"));
    roster.note_start_failure(error);
    control.release_worker();
    tell_of_free_place();
    config.uncaught(w.info, error);
    config.guarded(w.info, [&] { admit_again(w, *first); });
    config.guarded(w.info, [this] { try_for_the_stranded(); });
    config.guarded(w.info, [this] { try_terminate(); });
}

// Submits the first task of a worker that has lost its thread. Reports what the queue throws, and
// counts the task as rejected if the pool does not take it.
void detail::pool::admit_again(worker& w, task& first) {
    if (first.empty()) {
        return;
    }
    try {
        std::exception_ptr start_error;
        if (admit(first, start_error) == admission_result::accepted) {
            return;
        }
    } catch (...) {
        config.uncaught(w.info, std::current_exception());
    }
    if (!first.empty() && backlog.try_withdraw(first)) {  // empty: the queue had taken it before it threw
        count_rejection(first, rejection_reason::no_thread);
    }
}

}  // namespace spool::inline v1
