// Whether cgroups leave CPU time to spin, according to the quota and to the throttling in cpu.stat.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "sync/throttle_watch.hpp"

namespace {

using namespace std::chrono_literals;
using spool::detail::throttle_watch;

class throttle_watch_of : public testing::Test {
protected:
    throttle_watch_of() { std::filesystem::create_directories(folder_); }
    ~throttle_watch_of() override { std::filesystem::remove_all(folder_); }
    void set_quota(const std::string& text) const { std::ofstream{folder_ + "/cpu.max"} << text << '\n'; }
    void set_throttled(int periods) const {
        std::ofstream{folder_ + "/cpu.stat"} << "nr_periods 100\nnr_throttled " << periods << '\n';
    }
    throttle_watch watch() { return {std::vector<std::string>{folder_}, now_}; }

    const std::string folder_ = testing::TempDir() + "spool_throttle_" + std::to_string(getpid());
    spool::deadline::time_point now_ = spool::deadline::clock::now();
};

TEST_F(throttle_watch_of, no_quota_allows_spinning_and_never_looks_again) {
    throttle_watch w = watch();
    EXPECT_TRUE(w.may_spin());
    set_throttled(7);
    EXPECT_TRUE(w.may_spin(now_ + 1h));
}

TEST_F(throttle_watch_of, quota_below_two_cpus_allows_none) {
    set_quota("199000 100000");
    throttle_watch w = watch();
    EXPECT_FALSE(w.may_spin());
    EXPECT_FALSE(w.may_spin(now_ + 1h));
}

TEST_F(throttle_watch_of, quota_of_two_cpus_allows_it_until_the_process_is_throttled) {
    set_quota("200000 100000");
    set_throttled(5);  // before the watch began
    throttle_watch w = watch();
    EXPECT_TRUE(w.may_spin(now_ + 2s));
    set_throttled(6);
    EXPECT_FALSE(w.may_spin(now_ + 4s));
    EXPECT_FALSE(w.may_spin(now_ + 13s));
    EXPECT_TRUE(w.may_spin(now_ + 15s));  // ten seconds without throttling
    set_throttled(7);
    EXPECT_FALSE(w.may_spin(now_ + 17s));
}

TEST_F(throttle_watch_of, files_are_read_once_a_second_at_most) {
    set_quota("400000 100000");
    throttle_watch w = watch();
    EXPECT_TRUE(w.may_spin(now_ + 1s));
    set_throttled(9);
    EXPECT_TRUE(w.may_spin(now_ + 1999ms));
    EXPECT_FALSE(w.may_spin(now_ + 2s));
}

TEST_F(throttle_watch_of, file_that_vanishes_does_not_mean_throttling_for_ever) {
    set_quota("400000 100000");
    set_throttled(9);
    throttle_watch w = watch();
    std::filesystem::remove_all(folder_);
    static_cast<void>(w.may_spin(now_ + 1s));
    EXPECT_TRUE(w.may_spin(now_ + 20s));
}

}  // namespace
