// Which cgroups limit the CPU time of a process, with samples of real systems.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/cgroup.hpp"

namespace {

using spool::detail::cpu_cgroup_folders;
using spool::detail::cpu_quota;
using spool::detail::throttled_periods;
using folders = std::vector<std::string>;

constexpr const char* version1_mounts =
    "24 31 0:22 / /sys rw,nosuid,nodev,noexec,relatime shared:7 - sysfs sysfs rw\n"
    "33 24 0:28 / /sys/fs/cgroup ro,nosuid,nodev,noexec shared:9 - tmpfs tmpfs ro,mode=755\n"
    "34 33 0:29 / /sys/fs/cgroup/systemd rw,relatime shared:10 - cgroup cgroup rw,xattr,name=systemd\n"
    "37 33 0:32 / /sys/fs/cgroup/cpuset rw,relatime shared:14 - cgroup cgroup rw,cpuset\n"
    "38 33 0:33 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:15 - cgroup cgroup rw,cpu,cpuacct\n"
    "39 33 0:34 / /sys/fs/cgroup/memory rw,relatime shared:16 - cgroup cgroup rw,memory\n";

TEST(cpu_cgroups, version_2_gives_the_cgroup_and_its_parents) {
    EXPECT_EQ(
        cpu_cgroup_folders(
            "0::/system.slice/db.service\n",
            "35 24 0:30 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"),
        (folders{"/sys/fs/cgroup/system.slice/db.service", "/sys/fs/cgroup/system.slice", "/sys/fs/cgroup"}));
}

TEST(cpu_cgroups, version_1_takes_cpu_joined_with_cpuacct_and_does_not_take_cpuset_for_cpu) {
    EXPECT_EQ(
        cpu_cgroup_folders("12:cpuset:/small\n5:cpu,cpuacct:/user.slice/work\n1:name=systemd:/user.slice\n",
                           version1_mounts),
        (folders{"/sys/fs/cgroup/cpu,cpuacct/user.slice/work", "/sys/fs/cgroup/cpu,cpuacct/user.slice",
                 "/sys/fs/cgroup/cpu,cpuacct"}));
    EXPECT_EQ(cpu_cgroup_folders("12:cpuset:/small\n7:cpuacct:/small\n", version1_mounts), folders{});
}

TEST(cpu_cgroups, hybrid_uses_the_hierarchy_with_the_controller_and_the_unified_one) {
    const std::string mounts = "40 33 0:35 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
                               "41 33 0:36 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n"
                               "42 33 0:37 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
    EXPECT_EQ(cpu_cgroup_folders("3:cpuset:/x\n2:cpuacct:/y\n1:cpu:/z\n0::/\n", mounts),
              (folders{"/sys/fs/cgroup/cpu/z", "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/unified"}));
}

TEST(cpu_cgroups, path_continues_below_a_mount_that_shows_a_subtree) {
    const std::string mounts =
        "700 690 0:33 /docker/4f2 /sys/fs/cgroup/cpu,cpuacct ro,relatime - cgroup cgroup rw,cpu,cpuacct\n";
    EXPECT_EQ(cpu_cgroup_folders("5:cpu,cpuacct:/docker/4f2\n", mounts),
              (folders{"/sys/fs/cgroup/cpu,cpuacct"}));
    EXPECT_EQ(cpu_cgroup_folders("5:cpu,cpuacct:/docker/4f2/in\n", mounts),
              (folders{"/sys/fs/cgroup/cpu,cpuacct/in", "/sys/fs/cgroup/cpu,cpuacct"}));
    EXPECT_EQ(cpu_cgroup_folders("5:cpu,cpuacct:/docker/4f2b/in\n", mounts),
              (folders{"/sys/fs/cgroup/cpu,cpuacct"}));
}

TEST(cpu_cgroups, path_outside_of_the_namespace_yields_only_the_mount_point) {
    EXPECT_EQ(cpu_cgroup_folders("0::/../../other\n", "35 24 0:30 / /cg rw - cgroup2 cgroup2 rw\n"),
              (folders{"/cg"}));
}

TEST(cpu_cgroups, path_may_have_colons_and_the_mount_point_blanks) {
    EXPECT_EQ(cpu_cgroup_folders("0::/a:b\n", "35 24 0:30 / /my\\040cg rw - cgroup2 cgroup2 rw\n"),
              (folders{"/my cg/a:b", "/my cg"}));
}

TEST(cpu_cgroups, lines_of_unknown_form_are_skipped) {
    EXPECT_EQ(cpu_cgroup_folders("", ""), folders{});
    EXPECT_EQ(cpu_cgroup_folders("\n:\n::\n0::relative\nnonsense", " - cgroup2\n - \nx - cgroup2 a b\n"),
              folders{});
    EXPECT_EQ(cpu_cgroup_folders("0::/a\n", "\n"), folders{});
}

class cgroup_files : public testing::Test {
protected:
    cgroup_files() { std::filesystem::create_directories(root_ + "/app/db"); }
    ~cgroup_files() override { std::filesystem::remove_all(root_); }
    void write(const std::string& file, const std::string& text) const {
        std::ofstream{root_ + "/" + file} << text;
    }
    [[nodiscard]] folders all() const { return {root_ + "/app/db", root_ + "/app", root_}; }

    const std::string root_ = testing::TempDir() + "spool_cgroup_" + std::to_string(getpid());
};

TEST_F(cgroup_files, without_a_quota_is_infinite) {
    EXPECT_EQ(cpu_quota(all()), INFINITY);
    write("app/cpu.max", "max 100000\n");
    write("cpu.cfs_quota_us", "-1\n");
    write("cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(cpu_quota(all()), INFINITY);
    EXPECT_EQ(cpu_quota({}), INFINITY);
}

TEST_F(cgroup_files, smallest_quota_on_the_way_up_counts_in_version_2) {
    write("app/db/cpu.max", "400000 100000\n");
    write("app/cpu.max", "150000 100000\n");
    EXPECT_EQ(cpu_quota(all()), 1.5);
}

TEST_F(cgroup_files, smallest_quota_on_the_way_up_counts_in_version_1) {
    write("app/db/cpu.cfs_quota_us", "-1\n");
    write("app/db/cpu.cfs_period_us", "100000\n");
    write("app/cpu.cfs_quota_us", "25000\n");
    write("app/cpu.cfs_period_us", "50000\n");
    EXPECT_EQ(cpu_quota(all()), 0.5);
}

TEST_F(cgroup_files, malformed_file_is_no_quota) {
    write("cpu.max", "plenty");
    write("app/cpu.max", "100000");
    write("app/db/cpu.max", "100000 0\n");
    EXPECT_EQ(cpu_quota(all()), INFINITY);
}

TEST_F(cgroup_files, throttled_periods_of_all_are_summed) {
    write("app/cpu.stat", "nr_periods 24\nnr_throttled 3\nthrottled_time 51412\n");
    write("app/db/cpu.stat", "usage_usec 9\nnr_periods 4\nnr_throttled 2\nthrottled_usec 77\n");
    EXPECT_EQ(throttled_periods(all()), 5U);
    EXPECT_EQ(throttled_periods({}), 0U);
}

}  // namespace
