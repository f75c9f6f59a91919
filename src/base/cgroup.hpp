// cgroup: which cgroups limit the CPU time of this process, their quota, and whether it was used
// up. Linux only; elsewhere the files do not exist, and there is no quota.
//
// Two files have the answer. /proc/self/cgroup names the cgroup in each hierarchy.
// /proc/self/mountinfo says where each hierarchy is mounted:
//
//     version 2  0::/app.slice/db               one hierarchy, no controllers named; type cgroup2
//     version 1  4:cpu,cpuacct:/app.slice/db    one per set of controllers; type cgroup, option cpu
//     hybrid     both; the controller cpu belongs to one of them only
//
// In a container the mount may show a subtree; its root is then a prefix of the cgroup's path.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spool::inline v1::detail {

/// The folders whose quotas limit the process: its own cgroup first, then every parent up to the
/// mount point. The arguments are the texts of /proc/self/cgroup and /proc/self/mountinfo.
[[nodiscard]] std::vector<std::string> cpu_cgroup_folders(std::string_view cgroups, std::string_view mounts);

/// The same for the calling process.
[[nodiscard]] std::vector<std::string> cpu_cgroup_folders();

/// The smallest quota of these folders, in CPUs; infinite if no folder has a quota. Reads cpu.max,
/// or cpu.cfs_quota_us and cpu.cfs_period_us. A missing or malformed file means no quota.
[[nodiscard]] double cpu_quota(const std::vector<std::string>& folders);

/// The number of periods in which a quota of these folders was used up: the sum of nr_throttled in
/// cpu.stat.
[[nodiscard]] std::uint64_t throttled_periods(const std::vector<std::string>& folders);

}  // namespace spool::inline v1::detail
