#include <omp.h>

#include "pools/contenders/add_loops.hpp"

namespace {

enum class schedule { fixed, dynamic, guided };

// OpenMP hands indices out, not blocks: a block here has one element for `dynamic` and `guided`,
// and is the thread's whole part for `static`.
template <schedule Kind>
struct openmp_loops {
    void region(std::size_t k) requires(Kind == schedule::fixed) {
#pragma omp parallel num_threads(2)
#pragma omp single
        {
            for (std::size_t i = 0; i < k; ++i) {
#pragma omp task
                bench::empty_child();
            }
        }
    }
    template <class F>
    void in(F f) requires(Kind == schedule::fixed) {
        f();
    }
    template <class F>
    void for_blocks(std::size_t n, F f) {
        if constexpr (Kind == schedule::fixed) {
#pragma omp parallel num_threads(2)
            {
                const auto t = static_cast<std::size_t>(omp_get_thread_num());
                const auto all = static_cast<std::size_t>(omp_get_num_threads());
                f(n * t / all, n * (t + 1) / all);
            }
        } else if constexpr (Kind == schedule::dynamic) {
#pragma omp parallel for schedule(dynamic) num_threads(2)
            for (std::size_t i = 0; i < n; ++i) {
                f(i, i + 1);
            }
        } else {
#pragma omp parallel for schedule(guided) num_threads(2)
            for (std::size_t i = 0; i < n; ++i) {
                f(i, i + 1);
            }
        }
    }
    double reduce(const float* first, std::size_t n) requires(Kind == schedule::fixed) {
        double sum = 0;
#pragma omp parallel for schedule(static) num_threads(2) reduction(+ : sum)
        for (std::size_t i = 0; i < n; ++i) {
            sum += double{first[i]};
        }
        return sum;
    }
};

const bench::registration here{[] {
    bench::add_loops<openmp_loops<schedule::fixed>>("openmp-static", "OpenMP, static");
    bench::add_loops<openmp_loops<schedule::dynamic>>("openmp-dynamic", "OpenMP, dynamic");
    bench::add_loops<openmp_loops<schedule::guided>>("openmp-guided", "OpenMP, guided");
}};

}  // namespace
