#include <algorithm>
#include <cmath>
#include <thread>

#include "base/cgroup.hpp"
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

}  // namespace

std::size_t default_parallelism() noexcept {
    try {
        const auto cpus = static_cast<double>(allowed_by_affinity());
        return static_cast<std::size_t>(
            std::max(1.0, std::ceil(std::min(cpus, detail::cpu_quota(detail::cpu_cgroup_folders())))));
    } catch (...) {  // no memory to read the files
        return std::max(1U, std::thread::hardware_concurrency());
    }
}

}  // namespace spool::inline v1
