// Part of the library in builds with SPOOL_PAUSE_POINTS.
#include "spool/detail/pause_point.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>
#include <thread>

namespace spool::inline v1::pauses {
namespace {

constinit std::atomic<std::uint64_t> current_seed{0};
constinit std::atomic<std::uint64_t> threads_seen{0};
constinit std::atomic<std::uint64_t> pause_count{0};

struct random_state {
    std::uint64_t seed = 0;   // the seed that `state` was derived from
    std::uint64_t state = 0;  // of splitmix64
};
constinit thread_local random_state local;

std::uint64_t next() noexcept {
    std::uint64_t z = (local.state += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
}

void pause_thread(std::uint64_t amount) noexcept {
    pause_count.fetch_add(1, std::memory_order_relaxed);  // relaxed, statistic
    if (amount < 160) {
        std::this_thread::yield();
    } else if (amount < 250) {
        // volatile: the compiler must not drop the loop
        volatile std::uint64_t iterations = amount * 16;
        while (iterations > 0) {
            iterations = iterations - 1;
        }
    } else {
        std::this_thread::sleep_for(std::chrono::microseconds{(amount - 249) * 150});
    }
}

// SPOOL_PAUSES=<seed> or SPOOL_PAUSES=random, for programs that do not call begin() themselves.
[[maybe_unused]] const bool is_requested = [] {
    const char* const text = std::getenv("SPOOL_PAUSES");
    if (text == nullptr) {
        return false;
    }
    const std::uint64_t seed =
        std::string_view{text} == "random" ? std::random_device{}() : std::strtoull(text, nullptr, 10);
    std::fprintf(stderr, "spool: pauses at random; again with SPOOL_PAUSES=%llu\n",
                 static_cast<unsigned long long>(seed));
    begin(seed);
    return true;
}();

}  // namespace

void begin(std::uint64_t seed) noexcept {
    threads_seen.store(0);
    current_seed.store(seed);
}

std::uint64_t count() noexcept {
    return pause_count.load(std::memory_order_relaxed);  // relaxed, statistic
}

// A pause point must order nothing: otherwise it would hide the races that it is to expose.
void at(const char*) noexcept {
    const std::uint64_t seed = current_seed.load(std::memory_order_relaxed);  // relaxed: see above
    if (seed == 0) {
        return;
    }
    if (local.seed != seed) {
        // relaxed: see above
        local = {seed, seed ^ (threads_seen.fetch_add(1, std::memory_order_relaxed) * 0xd1342543de82ef95U)};
    }
    const std::uint64_t random = next();
    if (random % 64 == 0) {
        pause_thread(random / 64 % 256);
    }
}

}  // namespace spool::inline v1::pauses
