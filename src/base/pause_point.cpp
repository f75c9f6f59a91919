#include "spool/detail/pause_point.hpp"

#if defined(SPOOL_PAUSE_POINTS)

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>
#include <thread>

namespace spool::inline v1::pauses {
namespace {

constinit std::atomic<std::uint64_t> seed_now{0};
constinit std::atomic<std::uint64_t> threads{0};
constinit std::atomic<std::uint64_t> pauses_made{0};

struct own_dice {
    std::uint64_t seed = 0;   // the seed that `state` was derived from
    std::uint64_t state = 0;  // of splitmix64
};
constinit thread_local own_dice mine;

std::uint64_t next() noexcept {
    std::uint64_t z = (mine.state += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
}

void hold_up(std::uint64_t how) noexcept {
    pauses_made.fetch_add(1, std::memory_order_relaxed);  // relaxed, statistic
    if (how < 160) {
        std::this_thread::yield();
    } else if (how < 250) {
        volatile std::uint64_t turns = how * 16;  // volatile: the compiler must not drop the loop
        while (turns > 0) {
            turns = turns - 1;
        }
    } else {
        std::this_thread::sleep_for(std::chrono::microseconds{(how - 249) * 150});
    }
}

// SPOOL_PAUSES=<seed> or SPOOL_PAUSES=random, for programs that do not call begin() themselves.
[[maybe_unused]] const bool asked = [] {
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
    threads.store(0);
    seed_now.store(seed);
}

std::uint64_t count() noexcept {
    return pauses_made.load(std::memory_order_relaxed);  // relaxed, statistic
}

// A pause point must order nothing: otherwise it would hide the races that it is to expose.
void at(const char*) noexcept {
    const std::uint64_t seed = seed_now.load(std::memory_order_relaxed);  // relaxed: see above
    if (seed == 0) {
        return;
    }
    if (mine.seed != seed) {
        // relaxed: see above
        mine = {seed, seed ^ (threads.fetch_add(1, std::memory_order_relaxed) * 0xd1342543de82ef95U)};
    }
    const std::uint64_t roll = next();
    if (roll % 64 == 0) {
        hold_up(roll / 64 % 256);
    }
}

}  // namespace spool::inline v1::pauses

#endif
