// remote::executor: submits jobs to a broker and delivers their outcomes as futures.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "spool/base/deadline.hpp"
#include "spool/base/export.hpp"
#include "spool/future/future_task.hpp"
#include "spool/remote/broker.hpp"
#include "spool/remote/codec.hpp"
#include "spool/remote/error.hpp"
#include "spool/remote/function.hpp"

namespace spool::inline v1::remote {

/// What submit() does when the queue holds `bound` unstarted jobs: the local policies by name.
enum class full_policy {
    abort,           ///< throws rejected_execution with reason full
    discard,         ///< drops the new job; its future is cancelled
    discard_oldest,  ///< drops the oldest unstarted job; its future throws reason evicted
    block,           ///< waits up to submit_timeout for room, then as abort
    caller_runs,     ///< refused by the constructor: a name has no body here
};

struct executor_options {
    std::shared_ptr<remote::broker> broker = nullptr;
    /// Where jobs go that name no queue.
    std::string queue = "default";
    /// For messages.
    std::string name = "remote";
    /// How long submit() waits for a broker that is away, or for room.
    duration_setting submit_timeout = std::chrono::seconds{5};
    /// How many unstarted jobs a queue may hold; zero: any number.
    std::uint64_t bound = 0;
    full_policy when_full = full_policy::abort;
    /// The largest arguments that submit() sends, and results that get() reads.
    codec_limits limits = {};
    /// How often lost wake-ups are made up for.
    duration_setting poll = std::chrono::seconds{1};
};

/// All optional: `cluster.submit({.key = "a", .delay = 5s}, function, arguments...)`.
struct submit_options {
    std::string key = {};
    duration_setting delay = std::chrono::seconds{0};
    int priority = 0;
    int retries = 0;
    int crash_limit = 3;
    duration_setting backoff = std::chrono::seconds{1};
    duration_setting time_limit = std::chrono::seconds{0};
    duration_setting keep = std::chrono::hours{1};
    std::string queue = {};
    /// Nil: a random id.
    job_id id = {};
};

/// A submitted job: its id, which another process can find(), and its future.
template <class T>
struct submitted {
    job_id id;
    spool::future<T> result;
};

namespace detail {

/// A future that waits for the outcome of a job.
class pending_job {
public:
    virtual ~pending_job() = default;
    /// Completes the future. May throw what an on_done callback throws.
    virtual void complete(const job_record& job, const codec_limits& limits) = 0;
    virtual void fail(std::exception_ptr error) = 0;
    virtual void cancel() = 0;
};

class executor_core;
/// What the template below needs of the compiled part.
class SPOOL_API executor_link {
public:
    explicit executor_link(executor_options options);
    executor_link(const executor_link&) = delete;
    executor_link& operator=(const executor_link&) = delete;
    ~executor_link();

    [[nodiscard]] new_job prepare(const submit_options& how, std::string_view function,
                                  std::uint64_t signature, bytes args) const;
    [[nodiscard]] std::uint64_t next_number() noexcept;
    /// Called by the future's on_done callback.
    static void done(const std::weak_ptr<executor_core>& core, std::uint64_t number) noexcept;
    [[nodiscard]] std::weak_ptr<executor_core> weak() const noexcept { return core_; }

    struct entry {
        std::uint64_t number;
        std::unique_ptr<pending_job> pending;
    };
    /// Puts the jobs; each has an entry. The ids are those of the jobs that exist now.
    std::vector<job_id> submit(std::vector<new_job> jobs, std::vector<entry> entries);
    void find(const job_id& id, std::string_view function, std::uint64_t signature, entry e);
    [[nodiscard]] executor_core& core() const noexcept { return *core_; }

private:
    std::shared_ptr<executor_core> core_;
};

template <class T>
class pending_result final : public pending_job {
public:
    pending_result() : result_([]() -> T { throw std::logic_error("a remote job has no local body"); }) {}
    [[nodiscard]] spool::future<T> handle() const { return result_; }

    void complete(const job_record& job, const codec_limits& limits) override {
        if constexpr (std::is_void_v<T>) {
            result_.set_value();
        } else {
            std::exception_ptr error;
            try {
                T value = decode<T>(job.result, limits);
                result_.set_value(std::move(value));
                return;
            } catch (const codec_error&) {
                error = std::current_exception();
            }
            result_.set_exception(std::move(error));
        }
    }
    void fail(std::exception_ptr error) override { result_.set_exception(std::move(error)); }
    void cancel() override { result_.cancel(); }

private:
    future_task<T> result_;
};

}  // namespace detail

/// Submits named functions to workers in other processes.
///
///     spool::remote::executor cluster({.broker = spool::remote::sqlite("jobs.db")});
///     spool::future<int> sum = cluster.submit(add, 2, 3);
///     sum.get();
///
/// It is not a spool::executor: a closure cannot travel. The future is the local one: get(),
/// wait(), cancel(), on_done(). One thread delivers outcomes and runs the on_done callbacks.
///
/// What get() throws: cancelled; timed_out after the job's time limit; rejected_execution with
/// reason evicted; else remote_error, with the type and text of the worker's exception.
///
/// future::cancel() makes the future cancelled at once; the executor then tells the broker, again
/// and again while the broker is away. executor::cancel(id) tells it in the call and answers.
///
/// While the broker is away, submit() waits up to submit_timeout, then throws rejected_execution
/// with reason broker_unavailable. get() goes on waiting, and the executor reconnects.
///
/// Thread safety: any thread may call every member.
/// Lifetime: the destructor makes pending futures cancelled locally. Their jobs go on; find() takes
/// them up in another executor or process. An on_done callback may destroy the executor.
class SPOOL_API executor {
public:
    /// \throws std::invalid_argument naming the setting that is wrong
    explicit executor(executor_options options);
    ~executor();

    /// Submits one job.
    /// \throws rejected_execution: full, shut_down, broker_unavailable; codec_error if the
    /// arguments exceed the limits; broker_error if the broker refuses the schema or the rights
    template <class R, class... P, class... A>
        requires(sizeof...(P) == sizeof...(A) && (std::convertible_to<A, std::decay_t<P>> && ...))
    [[nodiscard]] spool::future<R> submit(const function<R(P...)>& f, A&&... args) {
        return submit_job({}, f, std::forward<A>(args)...).result;
    }
    template <class R, class... P, class... A>
        requires(sizeof...(P) == sizeof...(A) && (std::convertible_to<A, std::decay_t<P>> && ...))
    spool::future<R> submit(const submit_options& how, const function<R(P...)>& f, A&&... args) {
        return submit_job(how, f, std::forward<A>(args)...).result;
    }
    /// The same, and the id of the job. With a key that an unfinished job has, that job's id.
    template <class R, class... P, class... A>
        requires(sizeof...(P) == sizeof...(A) && (std::convertible_to<A, std::decay_t<P>> && ...))
    submitted<R> submit_job(const submit_options& how, const function<R(P...)>& f, A&&... args) {
        std::vector<new_job> jobs;
        jobs.push_back(prepare(how, f, std::forward<A>(args)...));
        std::vector<detail::executor_link::entry> entries;
        spool::future<R> result = add_entry<R>(entries);
        const std::vector<job_id> ids = link_.submit(std::move(jobs), std::move(entries));
        return {ids.front(), std::move(result)};
    }
    /// Submits a job for each tuple of arguments, in one call of the broker per 1000 jobs.
    template <class R, class... P>
    [[nodiscard]] std::vector<submitted<R>> submit_all(
        const submit_options& how, const function<R(P...)>& f,
        const std::vector<std::tuple<std::decay_t<P>...>>& all) {
        std::vector<new_job> jobs;
        std::vector<detail::executor_link::entry> entries;
        std::vector<submitted<R>> results;
        jobs.reserve(all.size());
        results.reserve(all.size());
        for (const auto& arguments : all) {
            jobs.push_back(std::apply([&](const auto&... a) { return prepare(how, f, a...); }, arguments));
            results.push_back({{}, add_entry<R>(entries)});
        }
        const std::vector<job_id> ids = link_.submit(std::move(jobs), std::move(entries));
        for (std::size_t i = 0; i < ids.size(); ++i) {
            results[i].id = ids[i];
        }
        return results;
    }

    /// The job as submit() would send it: for a broker that adds it in a transaction of yours.
    template <class R, class... P, class... A>
    [[nodiscard]] new_job prepare(const submit_options& how, const function<R(P...)>& f, A&&... args) {
        return link_.prepare(how, f.name(), f.signature(),
                             detail::encode_arguments<std::decay_t<P>...>(std::forward<A>(args)...));
    }

    /// A future for a job that another executor or process submitted. A job that the broker does
    /// not know, or of another function, makes the future fail with a sentence.
    template <class R, class... P>
    [[nodiscard]] spool::future<R> find(const function<R(P...)>& f, const job_id& id) {
        std::vector<detail::executor_link::entry> entries;
        spool::future<R> result = add_entry<R>(entries);
        link_.find(id, f.name(), f.signature(), std::move(entries.front()));
        return result;
    }

    /// Submits `f` at every multiple of `every` on the broker's clock, until the executor shuts
    /// down.
    /// Executors that name the same key submit each tick once. `how.keep` must be at least `every`.
    /// Ticks that pass while no executor runs are left out.
    template <class R, class... P, class... A>
    void submit_every(duration_setting every, const std::string& key, const submit_options& how,
                      const function<R(P...)>& f, A&&... args) {
        add_periodic(every, key, prepare(how, f, std::forward<A>(args)...));
    }

    /// Cancels a job. False: it is finished or unknown, or the broker did not answer in time.
    [[nodiscard]] bool cancel(const job_id& id);

    /// Refuses further jobs with reason shut_down; pending futures go on.
    void shutdown();
    /// Waits until no future is pending. False: the time has passed.
    template <class Rep, class Period>
    [[nodiscard]] bool await_all(std::chrono::duration<Rep, Period> d) {
        return await_all_until(deadline::after(d));
    }
    [[nodiscard]] bool await_all_until(deadline until);
    [[nodiscard]] std::size_t pending_count() const;
    [[nodiscard]] remote::broker& broker() const noexcept;

private:
    template <class R>
    spool::future<R> add_entry(std::vector<detail::executor_link::entry>& entries) {
        auto pending = std::make_unique<detail::pending_result<R>>();
        spool::future<R> handle = pending->handle();
        const std::uint64_t number = link_.next_number();
        handle.on_done([core = link_.weak(), number] { detail::executor_link::done(core, number); });
        entries.push_back({number, std::move(pending)});
        return handle;
    }
    void add_periodic(std::chrono::nanoseconds every, const std::string& key, new_job job);

    detail::executor_link link_;
};

}  // namespace spool::inline v1::remote
