// memory: what the threads of a model read and write, by the rules of C++.
//
// Each atomic word keeps all its stores in execution order, which is the word's modification order.
// A load may read any store that is not older than the newest one its thread knows of, so also a
// stale one. A release store carries what its thread knows. An acquire load that reads the store
// joins that knowledge. A read-modify-write reads the newest store and passes on what that store
// carried (the release sequence).
//
// seq_cst: the total order is the execution order. A seq_cst load reads nothing older than what
// earlier seq_cst operations on that word wrote or read. A seq_cst fence learns of every store that
// an earlier seq_cst access wrote or read, or that a thread knew of at an earlier seq_cst fence. A
// seq_cst access orders no other word.
//
// Not explored: a load that reads a store which is executed later (load buffering), and two threads
// that store to two words so that the modification orders contradict the program orders (2+2W).
// Every other behaviour that C++20 allows is explored.
//
// If every operation is seq_cst and plain data has no races, a program behaves as if its threads
// took turns. A model may ask for that (`sequential`) and then has far fewer states. A weaker order
// in such a model is a fault.
//
// Plain data is never read stale: two unordered accesses, one of them a write, are a fault at once.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "model/explorer/knowledge.hpp"

namespace model {

using thread_id = unsigned;
using word_id = unsigned;

[[nodiscard]] constexpr bool acquires(std::memory_order o) noexcept {
    return o != std::memory_order_relaxed && o != std::memory_order_release;
}
[[nodiscard]] constexpr bool releases(std::memory_order o) noexcept {
    return o != std::memory_order_relaxed && o != std::memory_order_acquire && o != std::memory_order_consume;
}

class memory {
public:
    /// Removes all words and plain data; only thread 0 exists afterwards. Sequential: every load
    /// reads the newest store, and the memory keeps no knowledge per thread.
    void reset(bool sequential);
    [[nodiscard]] bool sequential() const noexcept { return sequential_; }
    /// Begins thread `t`, which knows all that `from` knows.
    void begin(thread_id t, thread_id from);
    /// Thread 0 learns all that `t` knows.
    void join(thread_id t);

    // ---- Atomic words. A returned string describes a fault; null: there is none.
    [[nodiscard]] word_id make(thread_id t, std::uint64_t value);
    [[nodiscard]] const char* end(thread_id t, word_id w);
    /// Checks and records an access by `t`. Must precede the access.
    [[nodiscard]] const char* touch(thread_id t, word_id w);
    /// The oldest store that a load may read; it may read any from this one to the newest.
    [[nodiscard]] unsigned oldest(thread_id t, word_id w, std::memory_order order) const;
    /// The newest store of `w` that `t` knows of.
    [[nodiscard]] unsigned known(thread_id t, word_id w) const { return threads_[t].now.seen[w]; }
    [[nodiscard]] unsigned newest(word_id w) const {
        return static_cast<unsigned>(words_[w].stores.size() - 1);
    }
    [[nodiscard]] std::uint64_t value(word_id w, unsigned index) const {
        return words_[w].stores[index].value;
    }
    void read(thread_id t, word_id w, unsigned index, std::memory_order order);
    void write(thread_id t, word_id w, std::uint64_t value, std::memory_order order);
    /// Reads the newest store and writes, in one step.
    void update(thread_id t, word_id w, std::uint64_t value, std::memory_order order);
    void fence(thread_id t, std::memory_order order);
    /// From now on `t` reads no store of `w` older than `index`.
    void raise(thread_id t, word_id w, unsigned index);

    // ---- Locks: the knowledge that they hand on
    void acquire(thread_id t, const knowledge& from) {
        if (!sequential_) {
            threads_[t].now.join(from);
        }
    }
    void release(thread_id t, knowledge& to);

    // ---- Plain data, by its address
    [[nodiscard]] const char* plain_read(thread_id t, std::uintptr_t at);
    [[nodiscard]] const char* plain_write(thread_id t, std::uintptr_t at);

    /// A hash of everything that determines later reads and faults.
    [[nodiscard]] std::uint64_t hash(unsigned threads) const;

private:
    struct store {
        std::uint64_t value;
        knowledge carries;
        std::uint64_t hash;
    };
    struct word {
        std::vector<store> stores;
        bool alive = false;
        thread_id maker = 0;
        std::uint16_t made = 0;                                // the maker's clock at that time
        std::array<std::uint16_t, most_threads> last_touch{};  // 0: never
    };
    struct cell {
        std::uintptr_t at = 0;
        thread_id writer = 0;
        std::uint16_t written = 0;  // the writer's clock at that time; 0: never
        std::array<std::uint16_t, most_threads> reads{};
    };
    struct thread {
        knowledge now;
        knowledge to_acquire;  // what relaxed loads read: known after an acquire fence
        knowledge released;    // what relaxed stores carry: known at the last release fence
    };

    void tick(thread_id t) { ++threads_[t].now.clock[t]; }
    [[nodiscard]] std::uint64_t hash_of_values() const;
    void append(word_id w, std::uint64_t value, const knowledge& carries);
    cell& cell_at(std::uintptr_t at);

    std::array<word, most_words> words_;
    std::array<unsigned, most_threads> made_by_{};  // how many words
    std::array<thread, most_threads> threads_;
    std::vector<cell> cells_;
    bool sequential_ = false;
    // For each word, the oldest store that a seq_cst load may read.
    std::array<std::uint8_t, most_words> seq_cst_{};
};

}  // namespace model
