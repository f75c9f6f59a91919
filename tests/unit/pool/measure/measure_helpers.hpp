// Helpers that the tests of measuring share.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <spool/spool.hpp>

#include "support/eventually.hpp"

namespace test {

/// A task's sample is complete shortly after its future is: waits for `n` timed runs.
inline bool has_timed(const spool::thread_pool_executor& pool, std::uint64_t n) {
    return eventually([&] { return pool.read().run.count() == n; });
}

/// Keeps the calling thread busy by its own clock; returns how long.
inline std::chrono::nanoseconds compute_for(std::chrono::nanoseconds d) {
    const auto begun = std::chrono::steady_clock::now();
    auto now = begun;
    while (now - begun < d) {
        now = std::chrono::steady_clock::now();
    }
    return now - begun;
}

/// The reading of the kind with this name; null: there is none.
inline const spool::kind_reading* find_kind(const spool::pool_reading& r, const std::string& name) {
    for (const spool::kind_reading& k : r.kinds) {
        if (k.kind == name) {
            return &k;
        }
    }
    return nullptr;
}

}  // namespace test
