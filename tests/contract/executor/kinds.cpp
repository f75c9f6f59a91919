#include "contract/executor/kinds.hpp"

#include <concepts>

#include "unit/executor/direct_service.hpp"
#include "unit/pool/queues/queue_kinds.hpp"

namespace test {
namespace {

/// A kind whose executors `make` returns. `make` takes the number of workers and the factory, or
/// nothing.
template <class Make>
executor_kind kind_made_by(std::string name, std::string label, crew workers, Make make) {
    constexpr bool takes_factory = std::invocable<Make, std::size_t, spool::thread_factory>;
    const auto make_with = [make](std::size_t n, const spool::thread_factory& factory) {
        if constexpr (takes_factory) {
            return make(n, factory);
        } else {
            return make();
        }
    };
    using executor = std::invoke_result_t<decltype(make_with), std::size_t, spool::thread_factory>;
    return {.name = std::move(name),
            .label = std::move(label),
            .workers = workers,
            .is_service = std::derived_from<executor, spool::executor_service>,
            .is_pool = std::derived_from<executor, spool::thread_pool_executor>,
            .takes_factory = takes_factory,
            .make = [make_with](std::size_t n, const spool::thread_factory& factory) {
                return built{nullptr, std::unique_ptr<executor>{new executor(make_with(n, factory))}};
            }};
}

/// A kind of executor that runs its tasks on a service of the kind `target`.
template <class Executor>
executor_kind kind_over(const executor_kind& target, std::string name, std::string label, crew workers) {
    return {.name = std::move(name),
            .label = std::move(label),
            .workers = workers,
            .make = [make_target = target.make](std::size_t n, const spool::thread_factory& factory) {
                built both;
                both.target.reset(
                    dynamic_cast<spool::executor_service*>(make_target(n, factory).executor.release()));
                both.executor = std::make_unique<Executor>(*both.target);
                return both;
            }};
}

executor_kind pool_over(const queue_kind& queue) {
    executor_kind kind =
        kind_made_by("over_" + queue.name, "thread_pool_executor \"over\"", crew::asked_for,
                     [queue](std::size_t n, spool::thread_factory factory) {
                         return spool::thread_pool_executor({.name = "over",
                                                             .core_size = n,
                                                             .maximum_size = n,
                                                             .queue = queue.make(),
                                                             .thread_factory = std::move(factory)});
                     });
    kind.lifo = queue.name == "deque_lifo";
    return kind;
}

std::vector<executor_kind> all_kinds() {
    using spool::thread_factory;
    const std::string fixed_label = "thread_pool_executor \"fixed\"";
    const std::string scheduled_label = "scheduled_thread_pool_executor \"scheduled\"";
    const executor_kind own =
        kind_made_by("own_service", "executor", crew::caller, [] { return direct_service{}; });
    const executor_kind fixed =
        kind_made_by("fixed", fixed_label, crew::asked_for,
                     [](std::size_t n, thread_factory f) { return spool::fixed_thread_pool(n, f); });
    std::vector<executor_kind> all{
        kind_made_by("direct", "direct_executor", crew::caller, [] { return spool::direct_executor{}; }),
        own,
        kind_over<spool::serial_executor>(own, "serial_in_caller", "serial_executor", crew::caller),
        fixed,
        kind_over<spool::serial_executor>(fixed, "serial", "serial_executor", crew::one),
        kind_over<spool::submit_only>(fixed, "submit_only", fixed_label, crew::asked_for),
        kind_made_by("thread_per_task", "thread_per_task_executor", crew::unlimited,
                     [] { return spool::thread_per_task_executor{}; }),
        kind_made_by("cached", "thread_pool_executor \"cached\"", crew::unlimited,
                     [](std::size_t, thread_factory f) { return spool::cached_thread_pool(f); }),
        kind_made_by("work_stealing", "thread_pool_executor \"stealing\"", crew::asked_for,
                     [](std::size_t n, thread_factory f) { return spool::work_stealing_pool(n, f); }),
        kind_made_by("single", "thread_pool_executor \"single\"", crew::one,
                     [](std::size_t, thread_factory f) { return spool::single_thread_executor(f); }),
        kind_made_by("locked", fixed_label, crew::asked_for,
                     [](std::size_t n, thread_factory f) {
                         return spool::unconfigurable(
                             std::make_unique<spool::fixed_thread_pool_executor>(n, f));
                     }),
        kind_made_by("scheduled", scheduled_label, crew::asked_for,
                     [](std::size_t n, thread_factory f) { return spool::scheduled_thread_pool(n, f); }),
        kind_made_by(
            "single_scheduled", scheduled_label, crew::one,
            [](std::size_t, thread_factory f) { return spool::single_thread_scheduled_executor(f); }),
        kind_made_by(
            "locked_scheduled", scheduled_label, crew::asked_for, [](std::size_t n, thread_factory f) {
                return spool::unconfigurable(std::make_unique<spool::fixed_scheduled_pool_executor>(n, f));
            })};
    for (const queue_kind& queue : queue_kinds()) {
        // With a queue that stores nothing, a pool of fixed size would refuse the tests' tasks. The
        // list above has the pools over these two queues.
        const bool is_above = queue.name == "linked" || queue.name == "work_stealing";
        if (queue.stores && !is_above) {
            all.push_back(pool_over(queue));
        }
    }
    return all;
}

/// Calls the member submit() of the executor's type, or spool::submit() if it has none.
template <class... Args>
auto submit_to(spool::executor& where, Args... args) {
    if (auto* const handle = dynamic_cast<spool::submit_only*>(&where)) {
        return handle->submit(std::move(args)...);
    }
    if (auto* const service = dynamic_cast<spool::executor_service*>(&where)) {
        return service->submit(std::move(args)...);
    }
    return spool::submit(where, std::move(args)...);
}

}  // namespace

std::vector<executor_kind> executor_kinds(const std::function<bool(const executor_kind&)>& suits) {
    std::vector<executor_kind> chosen;
    for (executor_kind& kind : all_kinds()) {
        if (suits(kind)) {
            chosen.push_back(std::move(kind));
        }
    }
    return chosen;
}

any_subject::any_subject(const executor_kind& kind, std::size_t workers, const spool::thread_factory& factory)
    : name_(kind.name), built_(kind.make(workers, factory)) {}

any_subject::~any_subject() {
    EXPECT_TRUE(ends()) << name_;
}

spool::future<void> any_subject::submit_action(action f) {
    return submit_to(executor(), std::move(f));
}
spool::future<std::string> any_subject::submit(action f, std::string value) {
    return submit_to(executor(), std::move(f), std::move(value));
}
spool::future<std::string> any_subject::submit_job(job f) {
    return submit_to(executor(), std::move(f));
}

spool::executor_service* any_subject::life() const {
    return built_.target != nullptr ? built_.target.get() : as<spool::executor_service>();
}
bool any_subject::ends() {
    release();
    spool::executor_service* const service = life();
    if (service == nullptr) {
        return true;
    }
    service->shutdown();
    return service->await_termination(long_delay());
}
void any_subject::destroy() {
    built_.executor = nullptr;
    built_.target = nullptr;
}

spool::pool_snapshot any_subject::numbers() const {
    if (const auto* const pool = dynamic_cast<spool::thread_pool_executor*>(life())) {
        return pool->snapshot();
    }
    spool::pool_snapshot counts;
    if (const auto* const here = dynamic_cast<direct_service*>(life())) {
        counts.completed = static_cast<std::uint64_t>(here->executed());
    } else if (const auto* const threads = as<spool::thread_per_task_executor>()) {
        counts.active = threads->thread_count();
    }
    return counts;
}

}  // namespace test
