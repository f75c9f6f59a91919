// Shows that a pool that loses a task or runs one twice gets no figure. A run that only loses a
// task never ends, and bench_run.py counts it as failed. The cases here are those that a plain
// count would miss or notice too late.
#include <fmt/format.h>

#include <cstddef>
#include <functional>
#include <future>
#include <string>
#include <utility>

#include "pools/support/contender.hpp"
#include "pools/workloads/w01_one_producer.hpp"
#include "pools/workloads/w04_round_trip.hpp"
#include "pools/workloads/w08_burst.hpp"
#include "pools/workloads/w14_futures.hpp"

namespace {

enum class fault {
    none,
    runs_one_in_place_of_another,
    runs_the_last_again,
    brings_the_result_of_another,
    makes_a_result_up,
};

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

/// Runs every task in submit(), on the caller's thread, and returns its result. One task in seven
/// meets the planted fault.
template <fault Fault>
class faulty_futures {
public:
    static constexpr bench::traits about{
        .name = "faulty", .label = "faulty", .gives = bench::hand_over::never};

    explicit faulty_futures(bench::pool_shape) {}

    template <class F>
    void post(F&& f) {
        std::forward<F>(f)();
    }
    std::future<int> submit(bench::answer f) {
        std::promise<int> result;
        result.set_value(++submitted_ % 7 == 0 ? faulty_result(f) : f());
        return result.get_future();
    }

private:
    static int faulty_result(bench::answer f) {
        const bench::answer another{f.number - 1};
        switch (Fault) {
            case fault::runs_one_in_place_of_another: return another();
            case fault::brings_the_result_of_another: return f() - 1;
            case fault::makes_a_result_up: return static_cast<int>(f.number);
            default: return f();
        }
    }

    std::size_t submitted_ = 0;
};

template <fault Fault>
bench::figures futures_of(bench::futures_are what) {
    return bench::w14_futures<faulty_futures<Fault>>(1'000, what);
}

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
    using enum bench::futures_are;
    for (const bench::futures_are what : {kept, dropped}) {
        const std::string which = what == kept ? "futures that are kept" : "futures that are dropped";
        expect(complaint([=] { futures_of<none>(what); }), "", which + ": an exact pool gets its figures");
        expect(complaint([=] { futures_of<runs_one_in_place_of_another>(what); }), "sum of the",
               which + ": one task lost and another run twice is noticed");
    }
    expect(complaint([] { futures_of<brings_the_result_of_another>(kept); }), "sum of the results",
           "a future that brings the result of another task is noticed");
    expect(complaint([] { futures_of<makes_a_result_up>(kept); }), "tasks that ran",
           "a result without its task is noticed");
    return failures == 0 ? 0 : 1;
}
