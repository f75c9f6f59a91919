// Poco's ThreadPool: no queue. The pool grows up to its capacity, then rejects tasks.
#pragma once

#include <Poco/Exception.h>
#include <Poco/Runnable.h>
#include <Poco/ThreadPool.h>

#include <memory>
#include <thread>
#include <type_traits>
#include <utility>

#include "pools/support/contender.hpp"

namespace bench {

class poco_pool {
public:
    static constexpr traits about{.name = "poco", .label = "Poco::ThreadPool", .queues = false};

    explicit poco_pool(pool_shape shape) : pool_(2, static_cast<int>(shape.workers), /*idleTime=*/60) {}
    ~poco_pool() { pool_.joinAll(); }
    poco_pool(const poco_pool&) = delete;
    poco_pool& operator=(const poco_pool&) = delete;

    template <class F>
    void post(F&& f) {
        auto work = std::make_unique<job<std::decay_t<F>>>(std::forward<F>(f));
        for (;;) {
            try {
                pool_.start(*work);
                static_cast<void>(work.release());  // the job deletes itself
                return;
            } catch (const Poco::NoThreadAvailableException&) {
                std::this_thread::yield();  // a worker is done but not yet marked idle
            }
        }
    }

private:
    template <class F>
    class job final : public Poco::Runnable {
    public:
        explicit job(F f) : f_(std::move(f)) {}
        void run() override {
            const std::unique_ptr<job> owner{this};
            f_();
        }

    private:
        F f_;
    };

    Poco::ThreadPool pool_;
};

}  // namespace bench
