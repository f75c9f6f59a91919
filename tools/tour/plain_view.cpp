#include <cstdio>

#include "view.hpp"

namespace tour {
namespace {

class plain_view final : public view {
public:
    explicit plain_view(std::chrono::milliseconds pause) : pause_(pause) {}

    void begin_act(const frame& now) override {
        std::printf("%zu. %s: %s\n", now.act, now.text.title, now.text.why);
        last_ = now.elapsed;
    }
    void show(const frame& now) override {
        if (now.elapsed - last_ >= pause_) {
            sample(now);
        }
    }
    void end_act(const frame& now) override {
        if (now.pool != last_pool_) {
            sample(now);
        }
    }

private:
    void sample(const frame& now) {
        const spool::pool_snapshot& p = now.pool;
        std::printf(
            "   %4.1f s  workers %zu (core %zu, maximum %zu), active %zu, queued %zu of %zu, rejected %d\n",
            std::chrono::duration<double>{now.elapsed}.count(), p.pool_size, p.core_size, p.maximum_size,
            p.active, p.queued, p.queue_capacity, static_cast<int>(p.rejected));
        std::fflush(stdout);
        last_ = now.elapsed;
        last_pool_ = p;
    }

    const std::chrono::milliseconds pause_;
    std::chrono::milliseconds last_{0};
    spool::pool_snapshot last_pool_;  // as last shown
};

}  // namespace

std::unique_ptr<view> make_plain_view(std::chrono::milliseconds pause) {
    return std::make_unique<plain_view>(pause);
}

}  // namespace tour
