#include <fmt/format.h>

#include <cstdio>

#include "duration_text.hpp"
#include "view.hpp"

namespace spool::lab {
namespace {

class plain_view final : public view {
public:
    void show(const frame& now) override {
        if (now.elapsed < next_) {
            return;
        }
        next_ += std::chrono::seconds{1};
        fmt::print("{:>5.1f} s  workers {:>3}, active {:>3}, queued {:>4}, {:>5.0f}/s done, {:>4.0f}/s "
                   "rejected, wait p50 {}, p99 {}\n",
                   seconds(now.elapsed), now.workers, now.active, now.queued, now.throughput, now.rejections,
                   to_text(now.wait_p50), to_text(now.wait_p99));
        std::fflush(stdout);
    }

private:
    nanoseconds next_ = std::chrono::seconds{1};
};

class quiet_view final : public view {
    void show(const frame&) override {}
};

}  // namespace

std::unique_ptr<view> make_plain_view() {
    return std::make_unique<plain_view>();
}
std::unique_ptr<view> make_quiet_view() {
    return std::make_unique<quiet_view>();
}

}  // namespace spool::lab
