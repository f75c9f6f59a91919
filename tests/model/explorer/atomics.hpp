// atomics: the template argument that replaces std_atomics when a model instantiates product code.
#pragma once

#include <atomic>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <source_location>
#include <type_traits>
#include <utility>

#include "model/explorer/explorer.hpp"
#include "model/explorer/world.hpp"
#include "spool/detail/annotations.hpp"

namespace model {

template <class T>
class atomic {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t));
    using order = std::memory_order;
    using where = std::source_location;

public:
    static constexpr bool is_always_lock_free = true;

    atomic() : atomic(T{}) {}
    atomic(T value) : word_(world::make_word(bits(value))) {}  // NOLINT: implicit, like std::atomic
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;
    ~atomic() { world::end_word(word_); }

    T load(order o = order::seq_cst, const where& at = where::current()) const {
        return value(world::load(word_, o, at));
    }
    void store(T v, order o = order::seq_cst, const where& at = where::current()) {
        world::store(word_, bits(v), o, at);
    }
    T exchange(T v, order o = order::seq_cst, const where& at = where::current()) {
        return update([](std::uint64_t, std::uint64_t with) { return with; }, v, o, at);
    }
    bool compare_exchange_strong(T& expected, T desired, order success, order failure,
                                 const where& at = where::current()) {
        std::uint64_t seen = bits(expected);
        const bool done = world::compare_exchange(word_, seen, bits(desired), success, failure, at);
        if (!done) {
            expected = value(seen);
        }
        return done;
    }
    bool compare_exchange_strong(T& expected, T desired, order o = order::seq_cst,
                                 const where& at = where::current()) {
        const order failure = o == order::acq_rel ? order::acquire : o == order::release ? order::relaxed : o;
        return compare_exchange_strong(expected, desired, o, failure, at);
    }
    bool compare_exchange_weak(T& expected, T desired, order success, order failure,
                               const where& at = where::current()) {
        return compare_exchange_strong(expected, desired, success, failure, at);
    }
    bool compare_exchange_weak(T& expected, T desired, order o = order::seq_cst,
                               const where& at = where::current()) {
        return compare_exchange_strong(expected, desired, o, at);
    }
    T fetch_add(T v, order o = order::seq_cst, const where& at = where::current()) {
        return update(
            [](std::uint64_t a, std::uint64_t b) { return bits(static_cast<T>(value(a) + value(b))); }, v, o,
            at);
    }
    T fetch_sub(T v, order o = order::seq_cst, const where& at = where::current()) {
        return update(
            [](std::uint64_t a, std::uint64_t b) { return bits(static_cast<T>(value(a) - value(b))); }, v, o,
            at);
    }
    T fetch_or(T v, order o = order::seq_cst, const where& at = where::current()) {
        return update([](std::uint64_t a, std::uint64_t b) { return a | b; }, v, o, at);
    }
    T fetch_and(T v, order o = order::seq_cst, const where& at = where::current()) {
        return update([](std::uint64_t a, std::uint64_t b) { return a & b; }, v, o, at);
    }

    [[nodiscard]] word_id word() const noexcept { return word_; }

private:
    static std::uint64_t bits(T v) noexcept {
        std::uint64_t b = 0;
        std::memcpy(&b, &v, sizeof(v));
        return b;
    }
    static T value(std::uint64_t b) noexcept {
        T v{};
        std::memcpy(static_cast<void*>(&v), &b, sizeof(v));
        return v;
    }
    T update(world::combine f, T operand, order o, const where& at) {
        return value(world::update(word_, f, bits(operand), o, at));
    }

    word_id word_;
};

class SPOOL_CAPABILITY("mutex") mutex {
public:
    mutex() : lock_(world::make_lock()) {}
    mutex(const mutex&) = delete;
    mutex& operator=(const mutex&) = delete;
    ~mutex() = default;
    void lock(const std::source_location& at = std::source_location::current()) SPOOL_ACQUIRE() {
        world::acquire(lock_, at);
    }
    bool try_lock(const std::source_location& at = std::source_location::current()) SPOOL_TRY_ACQUIRE(true) {
        return world::try_acquire(lock_, at);
    }
    void unlock(const std::source_location& at = std::source_location::current()) SPOOL_RELEASE() {
        world::release(lock_, at);
    }

private:
    world::lock_id lock_;
};

class SPOOL_SCOPED_CAPABILITY lock_guard {
public:
    explicit lock_guard(mutex& m, const std::source_location& at = std::source_location::current())
        SPOOL_ACQUIRE(m)
        : mutex_(m) {
        mutex_.lock(at);
    }
    lock_guard(mutex& m, std::adopt_lock_t) noexcept SPOOL_REQUIRES(m) : mutex_(m) {}
    lock_guard(const lock_guard&) = delete;
    lock_guard& operator=(const lock_guard&) = delete;
    ~lock_guard() SPOOL_RELEASE() { mutex_.unlock(); }

private:
    mutex& mutex_;
};

/// In place of futex_parking.
class parking {
public:
    using word = atomic<std::uint32_t>;
    struct spin_loop {  // in place of spool::spin_loop
        template <class Budget>
        explicit spin_loop(const Budget&) {}
        bool next() { return left-- != 0; }
        unsigned left = 2;
    };
    struct spin_timestamp {                           // in place of spool::spin_timestamp
        static inline bool all_are_long_ago = false;  // set by tests
        static std::uint32_t now() { return 4; }
        static bool is_long_ago(std::uint32_t) { return all_are_long_ago; }
    };
    struct wake_timestamp {                           // in place of spool::wake_timestamp
        static inline bool all_are_long_ago = false;  // set by tests
        static std::uint32_t now() { return 4; }
        static bool is_long_ago(std::uint32_t) { return all_are_long_ago; }
    };
    template <class Deadline>
    void park(const word& w, std::uint32_t expected, const Deadline&,
              const std::source_location& at = std::source_location::current()) {
        world::park(w.word(), expected, at);
    }
    void unpark_one(const word& w, const std::source_location& at = std::source_location::current()) {
        world::unpark(w.word(), false, at);
    }
    void unpark_all(const word& w, const std::source_location& at = std::source_location::current()) {
        world::unpark(w.word(), true, at);
    }
    struct late_wake {
        const word* sleepers = nullptr;
        std::source_location asked_at{};
        ~late_wake() {
            if (sleepers != nullptr) {
                world::unpark(sleepers->word(), true, asked_at);
            }
        }
    };
    static late_wake unpark_all_later(const word& w,
                                      const std::source_location& at = std::source_location::current()) {
        return {&w, at};
    }
};

/// In place of backoff.
class pausing {
public:
    void operator()(const std::source_location& at = std::source_location::current()) { world::pause(at); }
    static void yield_briefly() {}
};

/// Plain data that threads hand to each other. Every access is checked for data races.
template <class T>
class plain {
    using where = std::source_location;

public:
    plain() noexcept : value_{} { world::plain_write(this, where::current()); }
    plain(T v, const where& at = where::current()) noexcept : value_(v) {  // NOLINT: stands for a T
        world::plain_write(this, at);
    }
    plain(const plain& other) noexcept : value_(other.read()) { world::plain_write(this, where::current()); }
    plain& operator=(const plain& other) noexcept {
        write(other.read());
        return *this;
    }
    ~plain() { world::plain_write(this, where::current()); }

    [[nodiscard]] T read(const where& at = where::current()) const noexcept {
        world::plain_read(this, at);
        return value_;
    }
    void write(T v, const where& at = where::current()) noexcept {
        world::plain_write(this, at);
        value_ = v;
    }
    operator T() const noexcept { return read(); }  // NOLINT: stands for a T

private:
    T value_;
};

/// In place of std_atomics.
struct atomics {
    template <class T>
    using atomic = model::atomic<T>;
    using mutex = model::mutex;
    using lock_guard = model::lock_guard;
    using backoff = pausing;

    static void light_barrier() noexcept {}
    static void heavy_barrier(const std::source_location& at = std::source_location::current()) {
        world::fence_all(at);
    }
    /// No time passes.
    static std::chrono::steady_clock::time_point now() noexcept {
        return std::chrono::steady_clock::time_point{std::chrono::nanoseconds{1}};
    }
};

}  // namespace model
