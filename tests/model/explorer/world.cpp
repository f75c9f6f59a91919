#include "model/explorer/world.hpp"

#include <memory>
#include <string>

#include "model/explorer/engine.hpp"

namespace model {

result explore(const subject& what, bounds bound, const plant& fault) {
    return std::make_unique<engine>(what, bound, fault)->run();  // too large for a stack
}

void check(bool holds, const char* claim) {
    if (!holds) {
        engine& e = engine::current();
        const engine::inside guard{e};
        e.fail(std::string{"does not hold: "} + claim);
    }
}

unsigned choose(unsigned n) {
    engine& e = engine::current();
    const engine::inside guard{e};
    e.step();
    const unsigned taken = e.choose(n);
    e.note(taken);
    return taken;
}

void forget(unsigned place) {
    engine& e = engine::current();
    e.forget(place);
}

unsigned start() {
    engine& e = engine::current();
    const engine::inside guard{e};
    return e.start();
}

unsigned self() noexcept {
    return engine::current().running();
}

harm engine::harm_at(const world::where& at) {
    if (plant_.what == harm::none || !std::string_view{at.file_name()}.ends_with(plant_.file) ||
        source_line(at.file_name(), at.line()).find(plant_.line) == std::string_view::npos) {
        return harm::none;
    }
    ++result_.harmed;
    return plant_.what;
}

void engine::tell(const world::where& at, const char* what, word_id w, std::uint64_t value) {
    if (!tracing_ || !exploring_) {
        return;
    }
    const std::string_view path{at.file_name()};
    const std::string_view name = path.substr(path.rfind('/') + 1);
    const auto known = static_cast<std::int64_t>(value);
    result_.trace += "thread " + std::to_string(running_) + "  " + std::string{name} + ":" +
                     std::to_string(at.line()) + "  " + what + " #" + std::to_string(w) + " " +
                     std::to_string(known) + "\n";
}

namespace world {
namespace {

std::memory_order weakened(std::memory_order order, harm harmed, std::memory_order softer) {
    return harmed == harm::relax ? std::memory_order_relaxed : harmed == harm::soften ? softer : order;
}

}  // namespace

word_id make_word(std::uint64_t value) {
    engine& e = engine::current();
    const engine::inside guard{e};
    return e.mem().make(e.running(), value);
}

void end_word(word_id w) {
    engine& e = engine::current();
    const engine::inside guard{e};
    e.require(e.mem().end(e.running(), w));
}

std::uint64_t load(word_id w, std::memory_order order, const where& at) {
    engine& e = engine::current();
    const engine::inside guard{e};
    const harm harmed = e.harm_at(at);
    if (harmed == harm::no_look || harmed == harm::pretend || harmed == harm::count_up) {
        const std::uint64_t answer = harmed == harm::no_look ? e.last_seen(w) : e.pretended();
        e.note(answer);
        return answer;
    }
    order = weakened(order, harmed, std::memory_order_acquire);
    e.require_order(order);
    e.step();
    e.require(e.mem().touch(e.running(), w));
    const unsigned newest = e.mem().newest(w);
    const unsigned from = newest - e.choose(newest - e.mem().oldest(e.running(), w, order) + 1);
    e.mem().read(e.running(), w, from, order);
    e.note_read(w, from);
    e.note(e.mem().value(w, from));
    e.tell(at, "load", w, e.mem().value(w, from));
    return e.mem().value(w, from);
}

void store(word_id w, std::uint64_t value, std::memory_order order, const where& at) {
    engine& e = engine::current();
    const engine::inside guard{e};
    const harm harmed = e.harm_at(at);
    if (harmed == harm::drop) {
        return;
    }
    order = weakened(order, harmed, std::memory_order_release);
    e.require_order(order);
    e.step();
    e.require(e.mem().touch(e.running(), w));
    e.mem().write(e.running(), w, value, order);
    e.note_write();
    e.note(w);
    e.tell(at, "store", w, value);
}

std::uint64_t update(word_id w, combine f, std::uint64_t operand, std::memory_order order, const where& at) {
    engine& e = engine::current();
    const engine::inside guard{e};
    const harm harmed = e.harm_at(at);
    order = weakened(order, harmed, std::memory_order_acq_rel);
    e.require_order(order);
    e.step();
    e.require(e.mem().touch(e.running(), w));
    const std::uint64_t old = e.mem().value(w, e.mem().newest(w));
    if (harmed == harm::drop) {
        e.note(old);
        return old;
    }
    e.mem().update(e.running(), w, f(old, operand), order);
    e.note_write();
    e.note(old);
    e.tell(at, "update", w, f(old, operand));
    return old;
}

// Fails on any store that it may read and that differs from `expected`, even if the newest store
// equals `expected`. Never fails spuriously.
bool compare_exchange(word_id w, std::uint64_t& expected, std::uint64_t desired, std::memory_order success,
                      std::memory_order failure, const where& at) {
    engine& e = engine::current();
    const engine::inside guard{e};
    const harm harmed = e.harm_at(at);
    success = weakened(success, harmed, std::memory_order_acq_rel);
    failure = weakened(failure, harmed, std::memory_order_acquire);
    e.require_order(success);
    e.step();
    e.require(e.mem().touch(e.running(), w));
    const unsigned newest = e.mem().newest(w);
    const unsigned oldest = e.mem().oldest(e.running(), w, failure);
    std::array<unsigned, 256> from{};
    unsigned count = 0;
    for (unsigned i = newest + 1; i-- > oldest;) {
        if (i == newest || e.mem().value(w, i) != expected) {
            from[count++] = i;
        }
    }
    const unsigned chosen = from[e.choose(count)];
    const std::uint64_t old = e.mem().value(w, chosen);
    e.note(old);
    if (old != expected && harmed == harm::no_look) {
        return false;
    }
    if (old == expected) {
        e.mem().update(e.running(), w, desired, success);
        e.note_write();
        e.tell(at, "exchanged", w, desired);
        return true;
    }
    e.mem().read(e.running(), w, chosen, failure);
    e.note_read(w, chosen);
    e.tell(at, "not exchanged", w, old);
    expected = old;
    return false;
}

void fence(std::memory_order order, const where& at) {
    engine& e = engine::current();
    const engine::inside guard{e};
    if (e.harm_at(at) != harm::none) {
        return;
    }
    e.step();
    e.mem().fence(e.running(), order);
    e.note(6);
    e.tell(at, "fence", 0, 0);
}

void fence_all(const where& at) {
    engine& e = engine::current();
    const engine::inside guard{e};
    if (e.harm_at(at) != harm::none) {
        return;
    }
    e.step();
    e.mem().fence(e.running(), std::memory_order_seq_cst);
    for (thread_id t = 1; t <= e.threads(); ++t) {
        if (t != e.running()) {
            e.note(7);
            e.step();
            e.mem().fence(t, std::memory_order_seq_cst);
        }
    }
    e.note(8);
    e.mem().fence(e.running(), std::memory_order_seq_cst);
    e.tell(at, "fence of all", 0, 0);
}

lock_id make_lock() {
    engine& e = engine::current();
    const engine::inside guard{e};
    return e.make_lock();
}
void acquire(lock_id l, const where& at) {
    engine& e = engine::current();
    const engine::inside guard{e};
    e.acquire(l);
    e.tell(at, "lock", l, 0);
}
bool try_acquire(lock_id l, const where& at) {
    engine& e = engine::current();
    const engine::inside guard{e};
    const bool got = e.try_acquire(l);
    e.tell(at, "try to lock", l, got ? 1 : 0);
    return got;
}
void release(lock_id l, const where& at) {
    engine& e = engine::current();
    const engine::inside guard{e};
    e.release(l);
    e.tell(at, "unlock", l, 0);
}

// Like the kernel, compares the newest value and goes to sleep in one step.
void park(word_id w, std::uint64_t expected, const where& at) {
    engine& e = engine::current();
    const engine::inside guard{e};
    e.step();
    e.require(e.mem().touch(e.running(), w));
    const bool sleeps = e.mem().value(w, e.mem().newest(w)) == expected;
    e.note(sleeps ? 10 : 11);
    e.tell(at, sleeps ? "sleep" : "no sleep", w, expected);
    if (sleeps) {
        e.park(w);
    }
}

// A wake-up needs only the address: the word may already be destroyed.
void unpark(word_id w, bool all, const where& at) {
    engine& e = engine::current();
    const engine::inside guard{e};
    if (e.harm_at(at) == harm::drop) {
        return;
    }
    e.step();
    e.note(12);
    e.tell(at, all ? "wake all" : "wake one", w, 0);
    e.unpark(w, all);
}

void pause(const where& at) {
    engine& e = engine::current();
    const engine::inside guard{e};
    e.tell(at, "pause", 0, 0);
    e.pause();
}

void await_change(word_id w, const where& at) {
    engine& e = engine::current();
    const engine::inside guard{e};
    e.tell(at, "await change", w, 0);
    e.await_change(w);
}

void plain_read(const void* at, const where& from) {
    engine& e = engine::current();
    if (e.in_arena(at)) {
        const engine::inside guard{e};
        e.tell(from, "plain read", 0, 0);
        e.require(e.mem().plain_read(e.running(), reinterpret_cast<std::uintptr_t>(at)));
    }
}

void plain_write(const void* at, const where& from) {
    engine& e = engine::current();
    if (e.in_arena(at)) {
        const engine::inside guard{e};
        e.tell(from, "plain write", 0, 0);
        e.require(e.mem().plain_write(e.running(), reinterpret_cast<std::uintptr_t>(at)));
    }
}

}  // namespace world
}  // namespace model
