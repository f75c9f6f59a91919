// knowledge: which operations of other threads are visible to a thread, or carried by its store.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace model {

/// Thread 0 constructs the model and checks the outcome. The explorer schedules the other threads.
inline constexpr unsigned most_threads = 4;
inline constexpr unsigned most_words = 96;
/// Each thread numbers the words that it makes from its own range, so that the numbers do not
/// depend on the schedule.
inline constexpr unsigned words_of_builder = 48;
inline constexpr unsigned words_of_thread = (most_words - words_of_builder) / (most_threads - 1);

[[nodiscard]] inline std::uint64_t mix(std::uint64_t hash, std::uint64_t more) noexcept {
    hash = (hash ^ more) * 0x9E3779B97F4A7C15U;
    return hash ^ (hash >> 29U);
}

struct knowledge {
    /// Happens-before, as a vector clock with one entry per thread.
    std::array<std::uint16_t, most_threads> clock{};
    /// For each word, the index of the oldest store that may still be read.
    std::array<std::uint8_t, most_words> seen{};

    void join_seen(const std::array<std::uint8_t, most_words>& other) noexcept {
        for (std::size_t i = 0; i < most_words; ++i) {
            seen[i] = seen[i] < other[i] ? other[i] : seen[i];
        }
    }
    void join(const knowledge& other) noexcept {
        for (std::size_t i = 0; i < most_threads; ++i) {
            clock[i] = clock[i] < other.clock[i] ? other.clock[i] : clock[i];
        }
        join_seen(other.seen);
    }
    [[nodiscard]] std::uint64_t hash() const noexcept {
        std::uint64_t h = 1;
        std::uint64_t part = 0;
        static_assert(sizeof(clock) == sizeof(part) && most_words % sizeof(part) == 0);
        std::memcpy(&part, clock.data(), sizeof(part));
        h = mix(h, part);
        for (std::size_t i = 0; i < most_words; i += sizeof(part)) {
            std::memcpy(&part, seen.data() + i, sizeof(part));
            h = mix(h, part);
        }
        return h;
    }
};

}  // namespace model
