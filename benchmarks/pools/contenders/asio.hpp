// Boost.Asio's thread_pool.
#pragma once

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <utility>

#include "pools/support/contender.hpp"

namespace bench {

class asio_pool {
public:
    static constexpr traits about{.name = "asio", .label = "Boost.Asio thread_pool"};

    explicit asio_pool(pool_shape shape) : pool_(shape.workers) {}

    template <class F>
    void post(F&& f) {
        boost::asio::post(pool_, std::forward<F>(f));
    }
    template <class F>
    auto submit(F&& f) {
        return boost::asio::post(pool_, boost::asio::use_future(std::forward<F>(f)));
    }

private:
    boost::asio::thread_pool pool_;
};

}  // namespace bench
