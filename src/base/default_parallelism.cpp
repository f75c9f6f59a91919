// How many CPUs this process may use.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <thread>

#include "spool/base/default_parallelism.hpp"

#if defined(__linux__)
#include <sched.h>
#endif

namespace spool::inline v1 {
namespace {

std::size_t allowed_by_affinity() {
#if defined(__linux__)
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof(set), &set) == 0) {
        return static_cast<std::size_t>(CPU_COUNT(&set));
    }
#endif
    return std::thread::hardware_concurrency();
}

// The quota of one cgroup folder, in CPUs; infinite if there is none.
double quota_in(const std::string& folder) {
    std::string quota;
    double period = 0;
    if (std::ifstream v2{folder + "/cpu.max"}; v2 >> quota >> period && quota != "max" && period > 0) {
        return std::stod(quota) / period;
    }
    double v1_quota = 0;
    std::ifstream quota_file{folder + "/cpu.cfs_quota_us"};
    std::ifstream period_file{folder + "/cpu.cfs_period_us"};
    if (quota_file >> v1_quota && period_file >> period && v1_quota > 0 && period > 0) {
        return v1_quota / period;
    }
    return INFINITY;
}

// The smallest quota on the way from our cgroup up to the root.
double allowed_by_cgroup() {
    double allowed = std::min(quota_in("/sys/fs/cgroup"), quota_in("/sys/fs/cgroup/cpu"));
    std::ifstream groups{"/proc/self/cgroup"};
    for (std::string line; std::getline(groups, line);) {  // "0::/path", or "4:cpu,cpuacct:/path"
        const std::size_t first = line.find(':');
        const std::size_t second = line.find(':', first + 1);
        if (second == std::string::npos) {
            continue;
        }
        const std::string controllers = line.substr(first + 1, second - first - 1);
        if (!controllers.empty() && controllers.find("cpu") == std::string::npos) {
            continue;
        }
        const std::string root = controllers.empty() ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu";
        for (std::string path = line.substr(second + 1); path.size() > 1; path.erase(path.rfind('/'))) {
            allowed = std::min(allowed, quota_in(root + path));
        }
    }
    return allowed;
}

}  // namespace

std::size_t default_parallelism() noexcept {
    try {
        const auto cpus = static_cast<double>(allowed_by_affinity());
        return static_cast<std::size_t>(std::max(1.0, std::ceil(std::min(cpus, allowed_by_cgroup()))));
    } catch (...) {  // a file that is not what we know, or no memory to read it
        return std::max(1U, std::thread::hardware_concurrency());
    }
}

}  // namespace spool::inline v1
