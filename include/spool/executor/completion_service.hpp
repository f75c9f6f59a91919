// completion_service<T>: futures in the order of their completion.
#pragma once

#include <chrono>
#include <concepts>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>

#include "spool/executor/executor.hpp"
#include "spool/executor/submit.hpp"
#include "spool/future/future_task.hpp"
#include "spool/queue/linked_blocking_queue.hpp"

namespace spool::inline v1 {

/// Runs tasks on an executor and returns their futures in the order of their completion.
///
///     spool::completion_service<std::string> pages{pool};
///     for (const auto& url : urls) { pages.submit([=] { return fetch(url); }); }
///     for (std::size_t i = 0; i < urls.size(); ++i) { use(pages.take().get()); }
///
/// Every submitted future comes out once, whatever its outcome: also a cancelled one, and one whose
/// task the executor dropped.
///
/// Thread safety: any thread may call any member. The service may be destroyed before its tasks are
/// done.
template <class T>
class completion_service {
public:
    /// Puts the completed futures into a private queue.
    explicit completion_service(executor& where)
        : completion_service(where, std::make_shared<linked_blocking_queue<future<T>>>()) {}

    /// Puts the completed futures into the given queue, which may be shared.
    /// \throws std::invalid_argument if the queue is null or bounded: a full queue would lose
    /// completions
    completion_service(executor& where, std::shared_ptr<blocking_queue<future<T>>> done)
        : executor_(where), done_(std::move(done)) {
        if (done_ == nullptr) {
            throw std::invalid_argument("completion_service: the queue is null");
        }
        if (done_->capacity() != blocking_queue<future<T>>::unlimited) {
            throw std::invalid_argument("completion_service: the queue is bounded (capacity " +
                                        std::to_string(done_->capacity()) +
                                        "); a completion that finds it full would be lost");
        }
    }

    /// Like executor_service::submit(). Not [[nodiscard]]: the same future comes out of take().
    template <task_callable F>
        requires(std::is_void_v<T> || std::convertible_to<task_result_t<F>, T>)
    future<T> submit(F&& f) {
        auto [handle, work] = make_future_task<T>(executor_, std::forward<F>(f)).split();
        auto publish_completion =
            handle.prepare_on_done([done = done_](const future<T>& next) { done->put(future<T>{next}, {}); });
        executor_.execute(std::move(work));
        // After execute(): a rejected task must not come out.
        handle.on_done(std::move(publish_completion));
        return std::move(handle);
    }
    template <task_callable F, std::convertible_to<T> V>
    future<T> submit(F&& f, V&& value) {
        return submit(detail::returning<std::decay_t<F>, T>{std::forward<F>(f), std::forward<V>(value)});
    }

    /// Waits for the next completed future and returns it. \throws interrupted
    [[nodiscard]] future<T> take() { return done_->take(); }
    [[nodiscard]] future<T> take(std::stop_token stop) { return done_->take(std::move(stop)); }
    /// Returns the next completed future, if there is one.
    [[nodiscard]] std::optional<future<T>> poll() { return done_->poll(); }
    /// The same, but waits at most for `d`. \throws interrupted
    template <class Rep, class Period>
    [[nodiscard]] std::optional<future<T>> poll_for(std::chrono::duration<Rep, Period> d) {
        return done_->poll_for(d);
    }
    template <class Rep, class Period>
    [[nodiscard]] std::optional<future<T>> poll_for(std::chrono::duration<Rep, Period> d,
                                                    std::stop_token stop) {
        return done_->poll_for(d, std::move(stop));
    }

private:
    executor& executor_;
    std::shared_ptr<blocking_queue<future<T>>> done_;
};

}  // namespace spool::inline v1
