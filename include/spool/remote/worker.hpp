// remote::worker: takes jobs from a broker and runs them on a pool.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "spool/base/deadline.hpp"
#include "spool/base/export.hpp"
#include "spool/pool/thread_pool_executor.hpp"
#include "spool/remote/broker.hpp"
#include "spool/remote/codec.hpp"
#include "spool/remote/function.hpp"

namespace spool::inline v1::remote {

struct queue_weight {
    std::string queue;
    /// While several queues have work, each gets starts in proportion to its weight.
    unsigned weight = 1;
};

struct worker_options {
    std::shared_ptr<remote::broker> broker = nullptr;
    std::vector<queue_weight> queues = {{"default", 1}};
    /// Runs the jobs. It must outlive the worker.
    thread_pool_executor& pool;
    /// For people; empty: host and process.
    std::string name = {};
    /// How long the broker waits for a sign of life before another worker takes a job.
    duration_setting lease = std::chrono::seconds{15};
    /// How often lost wake-ups are made up for.
    duration_setting poll = std::chrono::seconds{1};
    /// How many jobs run at once; zero: as many as the pool can start.
    std::size_t concurrency = 0;
    /// The largest arguments that a job may have.
    codec_limits limits = {};
    /// How long close() goes on trying to deliver outcomes to a broker that is away.
    duration_setting close_limit = std::chrono::seconds{10};
    /// The longest backoff after an error.
    duration_setting longest_backoff = std::chrono::minutes{10};
};

/// Numbers of a worker.
struct worker_counts {
    std::uint64_t taken = 0;
    std::uint64_t finished = 0;
    std::uint64_t handed_back = 0;
    /// Leases that another worker had taken over when this one renewed or finished.
    std::uint64_t lost = 0;
    std::size_t running = 0;
};

namespace detail {
using job_body = std::function<bytes(std::span<const std::uint8_t>, const codec_limits&, std::stop_token)>;
class worker_core;
}  // namespace detail

/// What a running job may ask about itself.
namespace this_job {
/// The lease of the job that runs on this thread; nullopt outside of a job. The id is the same in
/// every run: use it to make effects idempotent.
[[nodiscard]] SPOOL_API std::optional<lease> current() noexcept;
/// Errors of the job before this run; zero outside of a job.
[[nodiscard]] SPOOL_API int attempt() noexcept;
/// Tells the worker that the job's outcome is stored already, with a transaction of yours: the
/// worker reports none.
SPOOL_API void mark_finished() noexcept;
}  // namespace this_job

/// Runs jobs for a broker.
///
///     spool::thread_pool_executor pool({.core_size = 4});
///     spool::remote::worker worker({.broker = spool::remote::sqlite("jobs.db"), .pool = pool});
///     worker.handle(add, [](int a, int b) { return a + b; });
///     worker.run();
///
/// At least once: a job runs again if its worker is lost, so a handler must bear to run twice. The
/// outcome counts once: the first that the broker accepts. A worker that was thought lost learns at
/// the next renewal that its lease is gone, and requests a stop of the task.
///
/// The worker takes only jobs that the pool can start now, and only of functions that it has. It
/// renews leases every third of their length. A run that exceeds its time limit is asked to stop;
/// its lease is renewed no more, so a handler that ignores the request loses the job.
///
/// What a handler throws is an error and counts as a try; `spool::interrupted` after a requested
/// stop ends the job as cancelled.
///
/// Thread safety: handle() before start(); any thread may call the other members.
/// Lifetime: the destructor calls close().
class SPOOL_API worker {
public:
    /// \throws std::invalid_argument naming the setting that is wrong
    explicit worker(worker_options options);
    worker(const worker&) = delete;
    worker& operator=(const worker&) = delete;
    ~worker();

    /// Implements `f` by `body(arguments...)` or `body(arguments..., std::stop_token)`.
    /// \throws std::logic_error after start(), or for a name that has a handler
    template <class R, class... P, class F>
        requires(std::is_invocable_v<F&, std::decay_t<P>..., std::stop_token> ||
                 std::is_invocable_v<F&, std::decay_t<P>...>)
    void handle(const function<R(P...)>& f, F body) {
        auto shared = std::make_shared<F>(std::move(body));
        add_handler(f.name(), f.signature(), f.signature_text(),
                    [shared](std::span<const std::uint8_t> args, const codec_limits& limits,
                             std::stop_token stop) -> bytes {
                        auto values = detail::decode_arguments<std::decay_t<P>...>(args, limits);
                        const auto call = [&](auto&... v) -> decltype(auto) {
                            if constexpr (std::is_invocable_v<F&, std::decay_t<P>..., std::stop_token>) {
                                return std::invoke(*shared, std::move(v)..., std::move(stop));
                            } else {
                                return std::invoke(*shared, std::move(v)...);
                            }
                        };
                        if constexpr (std::is_void_v<R>) {
                            std::apply(call, values);
                            return {};
                        } else {
                            return encode<R>(static_cast<R>(std::apply(call, values)));
                        }
                    });
    }

    /// Starts to take jobs, on a thread of the worker's own.
    void start();
    /// start(), then wait until close() is called on another thread, or the stop is requested.
    void run(std::stop_token stop = {});
    /// run() until one of these signals arrives, then close(). The signals have their old handlers
    /// afterwards. One worker of a process at a time.
    void run_until_signal(std::initializer_list<int> signals);
    /// Takes no more jobs, hands back what has not begun, waits for what has, and reports it.
    void close();

    [[nodiscard]] worker_counts counts() const;
    [[nodiscard]] const std::string& id() const noexcept;

private:
    void add_handler(std::string_view name, std::uint64_t signature, std::string text, detail::job_body body);

    std::shared_ptr<detail::worker_core> core_;
};

}  // namespace spool::inline v1::remote
