// Eigen's ThreadPool: a queue of 1024 slots per worker. The submitter runs what does not fit.
#pragma once

// Comes before the pool's header, which relies on its includes.
#include <Eigen/Core>
#include <unsupported/Eigen/CXX11/ThreadPool>

#include <functional>
#include <utility>

#include "pools/support/contender.hpp"

namespace bench {

class eigen_pool {
public:
    static constexpr traits about{.name = "eigen",
                                  .label = "Eigen::ThreadPool",
                                  .gives = hand_over::unless_full,
                                  .takes_sleepers = false};

    explicit eigen_pool(pool_shape shape) : pool_(static_cast<int>(shape.workers)) {}

    template <class F>
    void post(F&& f) {
        pool_.Schedule(std::function<void()>(std::forward<F>(f)));
    }

private:
    Eigen::ThreadPool pool_;
};

}  // namespace bench
