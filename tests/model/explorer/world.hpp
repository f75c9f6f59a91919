// world: one execution of a model, as its operations see it. atomics.hpp puts the familiar names on it.
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
/// `f(old, operand)` is what is written; answers the old value.
using combine = std::uint64_t (*)(std::uint64_t old, std::uint64_t operand);
std::uint64_t update(word_id w, combine f, std::uint64_t operand, std::memory_order order, const where& at);
bool compare_exchange(word_id w, std::uint64_t& expected, std::uint64_t desired, std::memory_order success,
                      std::memory_order failure, const where& at);
void fence(std::memory_order order, const where& at);
/// A seq_cst fence of every thread, one after the other, between two of the caller's.
void fence_all(const where& at);

// ---- Waiting
using lock_id = unsigned;
[[nodiscard]] lock_id make_lock();
void acquire(lock_id l, const where& at);
[[nodiscard]] bool try_acquire(lock_id l, const where& at);
void release(lock_id l, const where& at);
void park(word_id w, std::uint64_t expected, const where& at);
void unpark(word_id w, bool all, const where& at);
/// In a loop that spins: waits until something has changed that the loop looked at.
void pause(const where& at);

/// Waits until the word has a newer store than the one that this thread last saw.
void await_change(word_id w, const where& at);

// ---- Plain data
void plain_read(const void* at, const where& from);
void plain_write(const void* at, const where& from);

}  // namespace model::world
