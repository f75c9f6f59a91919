// engine: the search over all executions of one model, and the state of the current execution.
// At most one engine exists at a time.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/explorer/arena.hpp"
#include "model/explorer/explorer.hpp"
#include "model/explorer/fiber.hpp"
#include "model/explorer/memory.hpp"
#include "model/explorer/state_set.hpp"
#include "model/explorer/world.hpp"

namespace model {

/// The loads of a thread since its last pause or write. A spin loop that reads the same stores in
/// two rounds waits until one of the words has a newer store.
struct spin_reads {
    struct entry {
        std::uint8_t word;
        std::uint8_t store;
        bool operator==(const entry&) const = default;
    };
    std::array<entry, 4> last{};
    unsigned count = 0;

    void note(word_id w, unsigned store) noexcept {
        last[count++ % last.size()] = {static_cast<std::uint8_t>(w), static_cast<std::uint8_t>(store)};
    }
    bool operator==(const spin_reads&) const = default;
};

class engine {
public:
    engine(const subject& what, bounds bound, const plant& fault);
    engine(const engine&) = delete;
    engine& operator=(const engine&) = delete;
    ~engine();
    result run();

    [[nodiscard]] static engine& current();

    // ---- For the operations, on the stack of the thread that executes them
    /// While an object of it lives, the explorer's own code runs: allocations bypass the arena.
    class inside {
    public:
        explicit inside(engine& e) noexcept : engine_(e), from_model_(allocating.from != nullptr) {
            allocating.from = nullptr;
        }
        inside(const inside&) = delete;
        inside& operator=(const inside&) = delete;
        ~inside() {
            if (from_model_) {
                engine_.back_to_model();
            }
        }

    private:
        engine& engine_;
        bool from_model_;
    };
    /// A scheduling point: other threads may run before the caller goes on.
    void step();
    [[nodiscard]] unsigned choose(unsigned count);
    [[nodiscard]] thread_id start();
    [[noreturn]] void fail(const std::string& why);
    void require(const char* fault) {
        if (fault != nullptr) {
            fail(fault);
        }
    }
    void require_order(std::memory_order order) {
        if (memory_.sequential() && order != std::memory_order_seq_cst) {
            fail("an order weaker than seq_cst, in a model that takes the threads for sequential");
        }
    }
    /// Adds to the running thread's history: a value that it has read, or just that it made
    /// progress. The history stands for the thread's position in the hash of the state.
    void note(std::uint64_t seen) noexcept {
        threads_[running_].history = mix(threads_[running_].history, seen);
    }
    void forget(std::uint64_t place) noexcept { threads_[running_].history = mix(0, place); }
    void note_read(word_id w, unsigned store) noexcept;
    void note_write() noexcept { threads_[running_].reads = threads_[running_].before = {}; }
    [[nodiscard]] harm harm_at(const world::where& at);
    [[nodiscard]] std::uint64_t pretended() noexcept {
        return plant_.value + (plant_.what == harm::count_up ? pretended_++ : 0);
    }
    [[nodiscard]] std::uint64_t last_seen(word_id w) const noexcept { return last_seen_[running_][w]; }
    void tell(const world::where& at, const char* what, word_id w, std::uint64_t value);

    [[nodiscard]] world::lock_id make_lock();
    void acquire(world::lock_id l);
    [[nodiscard]] bool try_acquire(world::lock_id l);
    void release(world::lock_id l);
    void park(word_id w);
    void unpark(word_id w, bool all);
    void pause();
    void await_change(word_id w);

    [[nodiscard]] memory& mem() noexcept { return memory_; }
    [[nodiscard]] thread_id running() const noexcept { return running_; }
    [[nodiscard]] unsigned threads() const noexcept { return subject_.threads; }
    [[nodiscard]] bool in_arena(const void* at) const noexcept { return arena_.holds(at); }

private:
    enum class status : std::uint8_t { unborn, ready, wants_lock, parked, paused, joining, finished };
    struct thread_state {
        status now = status::unborn;
        unsigned waits_for = 0;  // the lock, or the word that the thread sleeps on
        std::uint64_t history = 0;
        spin_reads reads;
        spin_reads before;  // `reads` at the last pause
    };
    struct lock_state {
        bool held = false;
        knowledge hands_on;
    };
    struct branch {
        std::uint16_t taken;
        std::uint16_t count;
    };

    void execute();
    bool next_path();
    void builder();
    void begin(thread_id t);
    void body(thread_id t);
    void schedule();
    void wait_as(status how, unsigned what);
    [[nodiscard]] bool can_run(thread_id t) const;
    [[nodiscard]] bool has_news(const thread_state& t) const;
    void note_state();
    [[nodiscard]] std::uint64_t state() const;
    void back_to_model() noexcept;
    [[noreturn]] void abandon();
    [[nodiscard]] std::string why_all_wait() const;

    const subject& subject_;
    const plant plant_;
    result result_;
    state_set seen_;
    std::vector<branch> path_;

    // ---- The current execution
    std::size_t depth_ = 0;  // how many branches have been taken
    memory memory_;
    arena arena_;
    fiber main_;
    std::array<fiber, most_threads> fibers_;
    std::array<thread_state, most_threads> threads_;
    std::array<std::array<std::uint64_t, most_words>, most_threads> last_seen_{};
    std::array<lock_state, 16> locks_;
    std::array<unsigned, most_threads> locks_made_{};
    thread_id running_ = 0;
    unsigned preemptions_ = 0;
    unsigned steps_ = 0;
    std::uint64_t pretended_ = 0;
    bool exploring_ = false;  // the threads run
    bool tracing_ = false;
    void* model_ = nullptr;
};

}  // namespace model
