// world: the operations of a model on its current execution. atomics.hpp gives them familiar names.
#pragma once

#include <atomic>
#include <cstdint>
#include <source_location>

#include "model/explorer/memory.hpp"

namespace model::world {

using where = std::source_location;

// ---- Atomic words; values as 64 bits
[[nodiscard]] word_id make_word(std::uint64_t value);
void end_word(word_id w);
[[nodiscard]] std::uint64_t load(word_id w, std::memory_order order, const where& at);
void store(word_id w, std::uint64_t value, std::memory_order order, const where& at);
/// Writes `f(old, operand)` and returns the old value.
using combine = std::uint64_t (*)(std::uint64_t old, std::uint64_t operand);
std::uint64_t update(word_id w, combine f, std::uint64_t operand, std::memory_order order, const where& at);
bool compare_exchange(word_id w, std::uint64_t& expected, std::uint64_t desired, std::memory_order success,
                      std::memory_order failure, const where& at);
void fence(std::memory_order order, const where& at);
/// Executes a seq_cst fence for every other thread in turn, between two fences of the caller's own.
void fence_all(const where& at);

// ---- Waiting
using lock_id = unsigned;
[[nodiscard]] lock_id make_lock();
void acquire(lock_id l, const where& at);
[[nodiscard]] bool try_acquire(lock_id l, const where& at);
void release(lock_id l, const where& at);
void park(word_id w, std::uint64_t expected, const where& at);
void unpark(word_id w, bool all, const where& at);
/// Called in a spin loop. If the loop read the same stores as in the round before, waits until one
/// of those words has a newer store.
void pause(const where& at);

/// Waits until the word has a newer store than the newest one that this thread knows of.
void await_change(word_id w, const where& at);

// ---- Plain data
void plain_read(const void* at, const where& from);
void plain_write(const void* at, const where& from);

}  // namespace model::world
