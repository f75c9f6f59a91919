// One thread: what a parallel loop must beat.
#include <algorithm>

#include "pools/contenders/add_loops.hpp"

namespace {

struct serial_loops {
    template <class F>
    void in(F f) {
        f();
    }
    template <class F>
    void for_blocks(std::size_t n, F f) {
        f(0, n);
    }
    double reduce(const float* first, std::size_t n) {
        double sum = 0;
        for (std::size_t i = 0; i < n; ++i) {
            sum += double{first[i]};
        }
        return sum;
    }
    template <class T>
    void sort(std::vector<T>& v) {
        std::sort(v.begin(), v.end());
    }
    template <class T>
    void stable_sort(std::vector<T>& v) {
        std::stable_sort(v.begin(), v.end());
    }
};

const bench::registration here{[] { bench::add_loops<serial_loops>("serial", "one thread"); }};

}  // namespace
