// GLib's GThreadPool: one heap object per task. A fixed pool has exclusive threads; a pool that may
// grow uses GLib's shared threads without a limit.
#pragma once

#include <glib.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "pools/support/contender.hpp"

namespace bench {

class glib_pool {
public:
    static constexpr traits about{.name = "glib", .label = "GLib GThreadPool"};

    explicit glib_pool(pool_shape shape) {
        GError* error = nullptr;
        const gint most = shape.may_grow ? -1 : static_cast<gint>(shape.workers);
        pool_ = g_thread_pool_new([](gpointer data, gpointer) { static_cast<job*>(data)->run_and_delete(); },
                                  nullptr, most, shape.may_grow ? FALSE : TRUE, &error);
        if (error != nullptr) {
            const std::string reason = error->message;
            g_error_free(error);
            throw std::runtime_error("GLib: " + reason);
        }
    }
    ~glib_pool() { g_thread_pool_free(pool_, FALSE, TRUE); }
    glib_pool(const glib_pool&) = delete;
    glib_pool& operator=(const glib_pool&) = delete;

    template <class F>
    void post(F&& f) {
        g_thread_pool_push(pool_, std::make_unique<job_of<std::decay_t<F>>>(std::forward<F>(f)).release(),
                           nullptr);
    }

private:
    struct job {
        virtual void run_and_delete() = 0;

    protected:
        ~job() = default;
    };

    template <class F>
    struct job_of final : job {
        explicit job_of(F work) : f(std::move(work)) {}
        void run_and_delete() override {
            const std::unique_ptr<job_of> owner{this};
            f();
        }
        F f;
    };

    GThreadPool* pool_ = nullptr;
};

}  // namespace bench
