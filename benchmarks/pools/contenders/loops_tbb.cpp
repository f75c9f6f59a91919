#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/parallel_sort.h>
#include <tbb/partitioner.h>
#include <tbb/task_group.h>

#include <algorithm>
#include <execution>

#include "pools/contenders/add_loops.hpp"

namespace {

template <class Partitioner>
class tbb_loops {
public:
    template <class F>
    void in(F f) {
        tbb::task_group group;
        group.run(f);
        group.wait();
    }
    void region(std::size_t k) requires std::is_same_v<Partitioner, tbb::auto_partitioner> {
        tbb::task_group children;
        for (std::size_t i = 0; i < k; ++i) {
            children.run([] { bench::empty_child(); });
        }
        children.wait();
    }
    template <class F>
    void for_blocks(std::size_t n, F f) {
        tbb::parallel_for(
            tbb::blocked_range<std::size_t>{0, n},
            [&](const tbb::blocked_range<std::size_t>& r) { f(r.begin(), r.end()); }, Partitioner{});
    }
    double reduce(const float* first, std::size_t n) {
        return tbb::parallel_reduce(
            tbb::blocked_range<std::size_t>{0, n}, 0.0,
            [&](const tbb::blocked_range<std::size_t>& r, double sum) {
                for (std::size_t i = r.begin(); i < r.end(); ++i) {
                    sum += double{first[i]};
                }
                return sum;
            },
            std::plus<>{}, Partitioner{});
    }
    template <class T>
    void sort(std::vector<T>& v) requires std::is_same_v<Partitioner, tbb::auto_partitioner> {
        tbb::parallel_sort(v.begin(), v.end());
    }
    template <class T>
    void stable_sort(std::vector<T>& v) requires std::is_same_v<Partitioner, tbb::auto_partitioner> {
        std::stable_sort(std::execution::par, v.begin(), v.end());
    }

private:
    tbb::global_control threads_{tbb::global_control::max_allowed_parallelism, 2};
};

const bench::registration here{[] {
    bench::add_loops<tbb_loops<tbb::auto_partitioner>>("tbb-auto", "oneTBB, auto_partitioner");
    bench::add_loops<tbb_loops<tbb::static_partitioner>>("tbb-static", "oneTBB, static_partitioner");
}};

}  // namespace
