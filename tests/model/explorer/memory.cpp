#include "model/explorer/memory.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace model {
namespace {

word_id first_word_of(thread_id t) {
    return t == 0 ? 0 : words_of_builder + (t - 1) * words_of_thread;
}

[[noreturn]] void too_large(const char* what) {
    std::fprintf(stderr, "the model is too large: %s\n", what);
    std::abort();
}

}  // namespace

void memory::reset(bool sequential) {
    sequential_ = sequential;
    for (thread_id t = 0; t < most_threads; ++t) {
        const word_id first = first_word_of(t);
        for (word_id w = first; w < first + made_by_[t]; ++w) {
            words_[w].stores.clear();
            words_[w].alive = false;
        }
        threads_[t] = {};
    }
    made_by_ = {};
    threads_[0].now.clock[0] = sequential ? 0 : 1;
    cells_.clear();
    seq_cst_ = {};
}

void memory::begin(thread_id t, thread_id from) {
    if (!sequential_) {
        threads_[t].now = threads_[from].now;
        threads_[t].now.clock[t] = 1;
        tick(from);
    }
}

void memory::join(thread_id t) {
    threads_[0].now.join(threads_[t].now);
}

// ---- Atomic words

word_id memory::make(thread_id t, std::uint64_t value) {
    const unsigned most = t == 0 ? words_of_builder : words_of_thread;
    if (made_by_[t] == most) {
        too_large("too many atomic words");
    }
    const word_id w = first_word_of(t) + made_by_[t]++;
    words_[w].alive = true;
    words_[w].maker = t;
    words_[w].made = threads_[t].now.clock[t];  // 0 if sequential: no clock ticks
    words_[w].last_touch = {};
    append(w, value, {});
    return w;
}

const char* memory::end(thread_id t, word_id w) {
    if (const char* const fault = touch(t, w)) {
        return fault;
    }
    words_[w].alive = false;
    for (thread_id other = 0; other < most_threads; ++other) {
        if (words_[w].last_touch[other] > threads_[t].now.clock[other]) {
            return "use after free: an atomic is destroyed while another thread may still use it";
        }
    }
    return nullptr;
}

const char* memory::touch(thread_id t, word_id w) {
    word& each = words_[w];
    if (!each.alive) {
        return "use after free: an atomic that is destroyed";
    }
    const knowledge& now = threads_[t].now;
    if (each.made > now.clock[each.maker]) {
        return "an atomic is used whose construction has not been handed over";
    }
    each.last_touch[t] = now.clock[t];
    return nullptr;
}

unsigned memory::oldest(thread_id t, word_id w, std::memory_order order) const {
    if (sequential_) {
        return newest(w);
    }
    const unsigned known = threads_[t].now.seen[w];
    return order == std::memory_order_seq_cst ? std::max<unsigned>(known, seq_cst_[w]) : known;
}

void memory::read(thread_id t, word_id w, unsigned index, std::memory_order order) {
    raise(t, w, index);
    if (sequential_) {
        return;
    }
    thread& self = threads_[t];
    const store& from = words_[w].stores[index];
    if (acquires(order)) {
        self.now.join(from.carries);
    } else {
        self.to_acquire.join(from.carries);
    }
    if (order == std::memory_order_seq_cst) {
        seq_cst_[w] = std::max(seq_cst_[w], static_cast<std::uint8_t>(index));
    }
}

void memory::write(thread_id t, word_id w, std::uint64_t value, std::memory_order order) {
    thread& self = threads_[t];
    raise(t, w, newest(w) + 1);
    if (sequential_) {
        append(w, value, {});
        return;
    }
    append(w, value, releases(order) ? self.now : self.released);
    if (releases(order)) {
        tick(t);
    }
    if (order == std::memory_order_seq_cst) {
        seq_cst_[w] = static_cast<std::uint8_t>(newest(w));
    }
}

void memory::update(thread_id t, word_id w, std::uint64_t value, std::memory_order order) {
    if (sequential_) {
        write(t, w, value, order);
        return;
    }
    thread& self = threads_[t];
    const knowledge inherited = words_[w].stores.back().carries;
    read(t, w, newest(w), order);
    raise(t, w, newest(w) + 1);
    knowledge carries = releases(order) ? self.now : self.released;
    carries.join(inherited);
    append(w, value, carries);
    if (releases(order)) {
        tick(t);
    }
    if (order == std::memory_order_seq_cst) {
        seq_cst_[w] = static_cast<std::uint8_t>(newest(w));
    }
}

void memory::fence(thread_id t, std::memory_order order) {
    if (sequential_) {
        return;
    }
    thread& self = threads_[t];
    if (acquires(order)) {
        self.now.join(self.to_acquire);
    }
    if (order == std::memory_order_seq_cst) {
        self.now.join_seen(seq_cst_);
        seq_cst_ = self.now.seen;
    }
    if (releases(order)) {
        self.released = self.now;
        tick(t);
    }
}

void memory::raise(thread_id t, word_id w, unsigned index) {
    std::uint8_t& seen = threads_[t].now.seen[w];
    seen = std::max(seen, static_cast<std::uint8_t>(index));
}

void memory::append(word_id w, std::uint64_t value, const knowledge& carries) {
    if (words_[w].stores.size() == 250) {
        too_large("too many stores to one word");
    }
    words_[w].stores.push_back({value, carries, mix(carries.hash(), value)});
}

void memory::release(thread_id t, knowledge& to) {
    if (sequential_) {
        return;
    }
    to = threads_[t].now;
    tick(t);
}

// ---- Plain data

memory::cell& memory::cell_at(std::uintptr_t at) {
    for (cell& c : cells_) {
        if (c.at == at) {
            return c;
        }
    }
    cells_.push_back({});
    cells_.back().at = at;
    return cells_.back();
}

const char* memory::plain_read(thread_id t, std::uintptr_t at) {
    if (sequential_) {
        return nullptr;
    }
    cell& c = cell_at(at);
    const knowledge& now = threads_[t].now;
    if (c.written > now.clock[c.writer]) {
        return "data race: a read of what another thread writes";
    }
    c.reads[t] = now.clock[t];
    return nullptr;
}

const char* memory::plain_write(thread_id t, std::uintptr_t at) {
    if (sequential_) {
        return nullptr;
    }
    cell& c = cell_at(at);
    const knowledge& now = threads_[t].now;
    if (c.written > now.clock[c.writer]) {
        return "data race: two writes";
    }
    for (thread_id other = 0; other < most_threads; ++other) {
        if (c.reads[other] > now.clock[other]) {
            return "data race: a write of what another thread reads";
        }
    }
    c.writer = t;
    c.written = now.clock[t];
    return nullptr;
}

// ---- The state

std::uint64_t memory::hash_of_values() const {
    std::uint64_t h = 8;
    for (thread_id t = 0; t < most_threads; ++t) {
        const word_id first = first_word_of(t);
        for (word_id w = first; w < first + made_by_[t]; ++w) {
            h = mix(h, words_[w].stores.back().value + (words_[w].alive ? 0 : 1));
        }
    }
    return h;
}

std::uint64_t memory::hash(unsigned threads) const {
    if (sequential_) {
        return hash_of_values();
    }
    std::uint64_t h = 7;
    std::array<std::uint8_t, most_words> unread = threads_[0].now.seen;
    for (thread_id t = 0; t <= threads; ++t) {
        const thread& each = threads_[t];
        if (t != 0) {
            for (std::size_t w = 0; w < most_words; ++w) {
                unread[w] = t == 1 ? each.now.seen[w] : std::min(unread[w], each.now.seen[w]);
            }
        }
        h = mix(mix(mix(h, each.now.hash()), each.to_acquire.hash()), each.released.hash());
    }
    for (thread_id t = 0; t < most_threads; ++t) {
        const word_id first = first_word_of(t);
        for (word_id w = first; w < first + made_by_[t]; ++w) {
            const word& each = words_[w];
            h = mix(h, each.stores.size() << 9U | std::uint64_t{seq_cst_[w]} << 1U | (each.alive ? 1U : 0U));
            for (std::size_t i = unread[w]; i < each.stores.size(); ++i) {
                h = mix(h, each.stores[i].hash);
            }
            std::uint64_t touched = 0;
            std::memcpy(&touched, each.last_touch.data(), sizeof(touched));
            h = mix(h, touched);
        }
    }
    std::uint64_t cells = 0;  // a sum: the order of first accesses does not matter
    for (const cell& c : cells_) {
        std::uint64_t reads = 0;
        std::memcpy(&reads, c.reads.data(), sizeof(reads));
        cells += mix(mix(mix(c.at, c.writer), c.written), reads);
    }
    return mix(h, cells);
}

}  // namespace model
