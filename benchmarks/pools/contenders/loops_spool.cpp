#include <spool/parallel/parallel.hpp>
#include <spool/spool.hpp>

#include "pools/contenders/add_loops.hpp"

namespace {

template <bool Steals, bool Deterministic = false>
class spool_loops {
public:
    template <class F>
    void in(F f) {
        pool_.submit(f).get();
    }
    void region(std::size_t k) {
        spool::task_group children{pool_};
        for (std::size_t i = 0; i < k; ++i) {
            children.run([] { bench::empty_child(); });
        }
        children.wait();
    }
    template <class F>
    void for_blocks(std::size_t n, F f) {
        spool::parallel_for_blocks(pool_, std::size_t{0}, n, f);
    }
    double reduce(const float* first, std::size_t n) {
        return spool::parallel_reduce(pool_, std::span{first, n}, 0.0, std::plus<>{},
                                      [](float v) { return double{v}; }, {.deterministic = Deterministic});
    }
    template <class T>
    void sort(std::vector<T>& v) {
        spool::parallel_sort(pool_, v);
    }
    template <class T>
    void stable_sort(std::vector<T>& v) {
        spool::parallel_stable_sort(pool_, v);
    }

private:
    spool::thread_pool_executor pool_ = Steals ? spool::work_stealing_pool(2) : spool::fixed_thread_pool(2);
};

/// The deterministic reduction, and nothing else.
struct deterministic_loops {
    double reduce(const float* first, std::size_t n) { return loops.reduce(first, n); }
    spool_loops<true, true> loops;
};

const bench::registration here{[] {
    bench::add_loops<spool_loops<true>>("spool-stealing", "Spool, work-stealing");
    bench::add_loops<spool_loops<false>>("spool-fixed", "Spool, fixed");
    bench::add_loops<deterministic_loops>("spool-deterministic", "Spool, work-stealing, deterministic");
}};

}  // namespace
