#include "summary.hpp"

#include <algorithm>
#include <cstdio>

namespace tour {
namespace {

// Converts a count to the type that %llu expects.
unsigned long long number(std::uint64_t n) {
    return n;
}

}  // namespace

void print_summary(stage& s) {
    const spool::pool_snapshot end = s.pool().snapshot();
    std::size_t peak_queue = 0;
    std::printf("\n%-24s %9s %9s %10s %8s %9s\n", "act", "peak size", "last size", "peak queue", "rejected",
                "completed");
    for (const act_record& r : s.records()) {
        std::printf("%-24s %9zu %9zu %10zu %8llu %9llu\n", r.title, r.peak_size, r.last_size, r.peak_queue,
                    number(r.rejected), number(r.completed));
        peak_queue = std::max(peak_queue, r.peak_queue);
    }
    std::printf("%-24s %9zu %9zu %10zu %8llu %9llu\n\n", "in all", end.largest_pool_size, end.pool_size,
                peak_queue, number(end.rejected), number(end.completed));
    std::printf("%llu tasks accepted, %llu completed, %llu refused; the pool is %s.\n", number(s.accepted()),
                number(end.completed), number(s.refused()), std::string{spool::to_string(end.state)}.c_str());
}

std::string find_fault(stage& s) {
    const spool::pool_snapshot end = s.pool().snapshot();
    const auto differ = [](const char* what, std::uint64_t is, std::uint64_t expected) {
        return std::string{what} + ": " + std::to_string(is) + ", expected " + std::to_string(expected);
    };
    if (end.completed != s.accepted()) {
        return differ("tasks completed", end.completed, s.accepted());
    }
    if (end.rejected != s.refused()) {
        return differ("tasks rejected", end.rejected, s.refused());
    }
    if (end.largest_pool_size != maximum_size) {
        return differ("largest size", end.largest_pool_size, maximum_size);
    }
    if (end.rejected == 0) {
        return "no task was rejected";
    }
    return {};
}

}  // namespace tour
