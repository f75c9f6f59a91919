// memory: what the threads of a model read and write, by the rules of C++.
//
// Each atomic word keeps all its stores, in the order in which they were made; that is its modification order. A load may read any of
// them that is not older than what its thread knows of, so also a stale one. A release store carries what its thread knows;
// who reads it by an acquire load comes to know that too. Read-modify-writes read the newest store, and pass on what it carried (the
// release sequence).
//
// seq_cst: their total order is the order in which they are made. A seq_cst load reads nothing older than what earlier seq_cst
// operations on that word wrote or read; a seq_cst fence learns what was written before all earlier ones. They are no more than that:
// a seq_cst access orders no other word.
//
// Not explored: a load that reads a store which is made later (load buffering), and stores of one thread to two words that others
// see in the reverse modification order (2+2W). Everything else that C++20 lets a program see is.
//
// Where every operation is seq_cst and plain data is not raced for, a program behaves as if its threads simply took turns. A model may ask for
// that (`sequential`), and has far fewer states then; a weaker order in it is a fault.
//
// Plain data is not read stale: two accesses to it, one of them a write, that are not ordered are a fault at once.
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
    /// Nothing is there, and only thread 0 knows. Sequential: every load reads the newest store, and who knows what is not kept.
    void reset(bool sequential);
    [[nodiscard]] bool sequential() const noexcept { return sequential_; }
    /// Thread `t` begins, and knows what `from` does.
    void begin(thread_id t, thread_id from);
    /// Thread 0 comes to know all that `t` did.
    void join(thread_id t);

    // ---- Atomic words. `fault` is null if all is well, else what is wrong.
    [[nodiscard]] word_id make(thread_id t, std::uint64_t value);
    [[nodiscard]] const char* end(thread_id t, word_id w);
    /// An access, before it is made.
    [[nodiscard]] const char* touch(thread_id t, word_id w);
    /// Which stores a load may read: from this one to the newest.
    [[nodiscard]] unsigned oldest(thread_id t, word_id w, std::memory_order order) const;
    /// The newest that `t` knows of.
    [[nodiscard]] unsigned known(thread_id t, word_id w) const { return threads_[t].now.seen[w]; }
    [[nodiscard]] unsigned newest(word_id w) const {
        return static_cast<unsigned>(words_[w].stores.size() - 1);
    }
    [[nodiscard]] std::uint64_t value(word_id w, unsigned index) const {
        return words_[w].stores[index].value;
    }
    void read(thread_id t, word_id w, unsigned index, std::memory_order order);
    void write(thread_id t, word_id w, std::uint64_t value, std::memory_order order);
    /// Reads the newest and writes; one step.
    void update(thread_id t, word_id w, std::uint64_t value, std::memory_order order);
    void fence(thread_id t, std::memory_order order);
    /// From now on `t` reads no store of `w` that is older.
    void raise(thread_id t, word_id w, unsigned index);

    // ---- Locks: what they hand on
    void acquire(thread_id t, const knowledge& from) {
        if (!sequential_) {
            threads_[t].now.join(from);
        }
    }
    void release(thread_id t, knowledge& to);

    // ---- Plain data, by its address
    [[nodiscard]] const char* plain_read(thread_id t, std::uintptr_t at);
    [[nodiscard]] const char* plain_write(thread_id t, std::uintptr_t at);

    /// Of all that decides what can still be read, or become a fault.
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
        std::uint16_t made = 0;                                // the maker's clock
        std::array<std::uint16_t, most_threads> last_touch{};  // 0: never
    };
    struct cell {
        std::uintptr_t at = 0;
        thread_id writer = 0;
        std::uint16_t written = 0;  // the writer's clock; 0: never
        std::array<std::uint16_t, most_threads> reads{};
    };
    struct thread {
        knowledge now;
        knowledge to_acquire;  // read by relaxed loads: known after an acquire fence
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
    std::array<std::uint8_t, most_words>
        seq_cst_{};  // of each word, the oldest store that a seq_cst load may read
};

}  // namespace model
