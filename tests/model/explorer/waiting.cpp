// Locks, sleep and spinning.
#include <algorithm>
#include <cstdlib>

#include "model/explorer/engine.hpp"

namespace model {

world::lock_id engine::make_lock() {
    if (locks_made_[running_] == locks_.size() / most_threads) {
        std::abort();  // the model is too large
    }
    return running_ * static_cast<unsigned>(locks_.size() / most_threads) + locks_made_[running_]++;
}

void engine::acquire(world::lock_id l) {
    if (exploring_) {
        ++steps_;
        wait_as(status::wants_lock, l);
    }
    note(l);
    locks_[l].held = true;
    memory_.acquire(running_, locks_[l].hands_on);
}

bool engine::try_acquire(world::lock_id l) {
    step();
    const bool got = !locks_[l].held;
    note(got ? 3 : 2);
    if (got) {
        locks_[l].held = true;
        memory_.acquire(running_, locks_[l].hands_on);
    }
    return got;
}

void engine::release(world::lock_id l) {
    step();
    note(l);
    memory_.release(running_, locks_[l].hands_on);
    locks_[l].held = false;
}

void engine::park(word_id w) {
    wait_as(status::parked, w);
    note(w);
}

void engine::unpark(word_id w, bool all) {
    std::array<thread_id, most_threads> sleepers{};
    unsigned count = 0;
    for (thread_id t = 1; t <= subject_.threads; ++t) {
        if (threads_[t].now == status::parked && threads_[t].waits_for == w) {
            sleepers[count++] = t;
        }
    }
    if (count == 0) {
        return;
    }
    if (!all) {
        sleepers[0] = sleepers[choose(count)];
        count = 1;
    }
    for (unsigned i = 0; i < count; ++i) {
        threads_[sleepers[i]].now = status::ready;
    }
}

void engine::pause() {
    if (!exploring_) {
        fail("a spin that nothing can end");
    }
    thread_state& self = threads_[running_];
    note(5);
    if (self.reads != self.before) {  // the loop read something new: one more round at once
        self.before = self.reads;
        self.reads = {};
        return;
    }
    wait_as(status::paused, 0);
    const std::size_t count = std::min<std::size_t>(self.reads.count, self.reads.last.size());
    for (std::size_t i = 0; i < count; ++i) {
        const spin_reads::entry r = self.reads.last[i];
        if (memory_.newest(r.word) > r.store) {
            memory_.raise(running_, r.word, r.store + 1U);
        }
    }
    note_write();
}

void engine::await_change(word_id w) {
    thread_state& self = threads_[running_];
    note(14);
    note_write();
    self.reads.note(w, memory_.known(running_, w));
    wait_as(status::paused, w);
    note_write();
}

}  // namespace model
