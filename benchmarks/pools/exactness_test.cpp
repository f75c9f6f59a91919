// Shows that a pool that loses a task or runs one twice gets no figure. A run that only loses a
// task never ends, and bench_run.py counts it as failed. The cases here are those that a plain
// count would miss or notice too late.
#include <fmt/format.h>

#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include "pools/support/contender.hpp"
#include "pools/workloads/w01_one_producer.hpp"
#include "pools/workloads/w04_round_trip.hpp"
#include "pools/workloads/w08_burst.hpp"

namespace {

enum class fault { none, runs_one_in_place_of_another, runs_the_last_again };

/// Runs every task in post(), on the caller's thread, except for its planted fault.
template <fault Fault>
class faulty_pool {
public:
    static constexpr bench::traits about{.name = "faulty", .label = "faulty"};

    explicit faulty_pool(bench::pool_shape) {}
    faulty_pool(const faulty_pool&) = delete;
    faulty_pool& operator=(const faulty_pool&) = delete;
    ~faulty_pool() {
        if (Fault == fault::runs_the_last_again && last_) {
            last_();
        }
    }

    template <class F>
    void post(F&& f) {
        const bool repeats = Fault == fault::runs_one_in_place_of_another && ++posted_ % 7 == 0 && last_;
        if (!repeats) {
            last_ = std::forward<F>(f);
        }
        last_();
    }

private:
    std::function<void()> last_;
    std::size_t posted_ = 0;
};

/// Returns the message of the `inexact` that the workload threw; empty if it threw none.
template <class Workload>
std::string complaint(Workload workload) {
    try {
        workload();
        return {};
    } catch (const bench::inexact& e) {
        return e.what();
    }
}

int failures = 0;

void expect(const std::string& actual, const std::string& start, const std::string& claim) {
    const bool holds = start.empty() ? actual.empty() : actual.rfind(start, 0) == 0;
    fmt::print("{} {} ({})\n", holds ? "ok    " : "FAILED", claim, actual);
    failures += holds ? 0 : 1;
}

}  // namespace

int main() {
    using enum fault;
    expect(complaint([] { bench::w01_one_producer<faulty_pool<none>>(1'000, 2); }), "",
           "an exact pool gets its figures");
    expect(complaint([] { bench::w01_one_producer<faulty_pool<runs_one_in_place_of_another>>(1'000, 2); }),
           "sum of the tasks' numbers", "one task lost and another run twice is noticed");
    expect(complaint([] { bench::w01_one_producer<faulty_pool<runs_the_last_again>>(1'000, 2); }),
           "tasks that ran: 1001 instead of 1000", "a task that comes again when the pool ends is noticed");
    expect(complaint([] { bench::w08_burst<faulty_pool<runs_one_in_place_of_another>>(8); }),
           "runs of one task", "a burst is checked task by task");
    expect(complaint([] { bench::w04_round_trip<faulty_pool<none>>(100, bench::nanoseconds{0}); }), "",
           "round trips of an exact pool get their figures");
    return failures == 0 ? 0 : 1;
}
