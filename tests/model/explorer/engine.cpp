#include "model/explorer/engine.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace model {
namespace {

engine* the_engine = nullptr;

}  // namespace

engine::engine(const subject& what, bounds bound, const plant& fault) : subject_(what), plant_(fault) {
    result_.bound = bound;
    the_engine = this;
}

engine::~engine() {
    the_engine = nullptr;
}

engine& engine::current() {
    return *the_engine;
}

result engine::run() {
    const auto begin = std::chrono::steady_clock::now();
    do {
        execute();
        ++result_.executions;
        result_.longest = std::max(result_.longest, steps_);
    } while (result_.fault.empty() && result_.executions < result_.bound.executions && next_path());
    result_.complete = path_.empty();
    result_.states = seen_.size();
    if (!result_.fault.empty()) {  // repeat the last execution to record its trace
        tracing_ = true;
        execute();
    }
    result_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return std::move(result_);
}

bool engine::next_path() {
    while (!path_.empty() && path_.back().taken + 1 == path_.back().count) {
        path_.pop_back();
    }
    if (path_.empty()) {
        return false;
    }
    ++path_.back().taken;
    return true;
}

void engine::execute() {
    memory_.reset(subject_.sequential);
    arena_.reset();
    threads_ = {};
    last_seen_ = {};
    locks_ = {};
    locks_made_ = {};
    depth_ = 0;
    preemptions_ = 0;
    steps_ = 0;
    pretended_ = 0;
    exploring_ = false;
    running_ = 0;
    allocating = {};
    fibers_[0].prepare([](void* e) { static_cast<engine*>(e)->builder(); }, this);
    fiber::change(main_, fibers_[0]);
    allocating = {};
}

// ---- The threads

void engine::builder() {
    back_to_model();
    model_ = subject_.make();
    allocating.from = nullptr;
    for (thread_id t = 1; t + subject_.latent <= subject_.threads; ++t) {
        begin(t);
    }
    exploring_ = true;
    wait_as(status::joining, 0);
    exploring_ = false;
    for (thread_id t = 1; t <= subject_.threads; ++t) {
        memory_.join(t);
    }
    back_to_model();
    subject_.end(model_);
    subject_.destroy(model_);
    back_to_model();  // reports a fault that operator delete found
    allocating.from = nullptr;
    if (arena_.live() != 0) {
        fail(std::to_string(arena_.live()) + " blocks of memory were never freed");
    }
    abandon();
}

void engine::begin(thread_id t) {
    memory_.begin(t, running_);
    threads_[t].now = status::ready;
    fibers_[t].prepare(
        [](void* e) {
            auto* const self = static_cast<engine*>(e);
            self->body(self->running_);
        },
        this);
}

thread_id engine::start() {
    step();
    note(13);
    for (thread_id t = 1; t <= subject_.threads; ++t) {
        if (threads_[t].now == status::unborn) {
            begin(t);
            return t;
        }
    }
    return 0;
}

void engine::body(thread_id t) {
    note(1);  // the thread has reached its first operation
    back_to_model();
    subject_.thread(model_, t);
    allocating.from = nullptr;
    threads_[t].now = status::finished;
    schedule();
    std::abort();  // no thread switches back to a finished one
}

void engine::back_to_model() noexcept {
    if (allocating.fault != nullptr) {
        fail(allocating.fault);
    }
    allocating.from = &arena_;
    allocating.thread = running_;
}

void engine::abandon() {
    fiber::change(fibers_[running_], main_);
    std::abort();
}

void engine::fail(const std::string& why) {
    allocating = {};
    result_.fault = why;
    if (tracing_) {
        result_.trace += "thread " + std::to_string(running_) + ": " + why + "\n";
    }
    abandon();
}

// ---- Choices

unsigned engine::choose(unsigned count) {
    if (count == 1) {
        return 0;
    }
    if (depth_ == path_.size()) {
        path_.push_back({0, static_cast<std::uint16_t>(count)});
    } else if (path_[depth_].count != count) {
        std::fputs("a model must do the same again when it reads the same\n", stderr);
        std::abort();
    }
    return path_[depth_++].taken;
}

void engine::step() {
    if (exploring_) {
        ++steps_;
        if (steps_ > 5000) {
            fail("no end after 5000 steps");
        }
        schedule();
    }
}

void engine::schedule() {
    std::array<thread_id, most_threads> who{};
    unsigned count = 0;
    const bool goes_on = can_run(running_);
    if (goes_on) {
        who[count++] = running_;
    }
    for (thread_id t = 0; t <= subject_.threads; ++t) {
        if (t != running_ && can_run(t) && (!goes_on || preemptions_ < result_.bound.preemptions)) {
            who[count++] = t;
        }
    }
    if (count == 0) {
        fail(why_all_wait());
    }
    note_state();
    const thread_id before = running_;
    running_ = who[choose(count)];
    if (running_ != before) {
        preemptions_ += goes_on && result_.bound.preemptions != bounds::none ? 1 : 0;
        fiber::change(fibers_[before], fibers_[running_]);
    }
}

// Suspends the running thread until it can run again and is chosen.
void engine::wait_as(status how, unsigned what) {
    thread_state& self = threads_[running_];
    self.now = how;
    self.waits_for = what;
    schedule();
    self.now = status::ready;
}

bool engine::can_run(thread_id t) const {
    const thread_state& each = threads_[t];
    switch (each.now) {
        case status::ready: return t != 0 || !exploring_;
        case status::wants_lock: return !locks_[each.waits_for].held;
        case status::paused: return has_news(each);
        case status::joining:
            return std::all_of(threads_.begin() + 1, threads_.begin() + 1 + subject_.threads,
                               [](const thread_state& other) {
                                   return other.now == status::finished || other.now == status::unborn;
                               });
        case status::unborn:
        case status::parked:
        case status::finished: break;
    }
    return false;
}

bool engine::has_news(const thread_state& t) const {
    const std::size_t count = std::min<std::size_t>(t.reads.count, t.reads.last.size());
    return std::any_of(t.reads.last.begin(), t.reads.last.begin() + static_cast<std::ptrdiff_t>(count),
                       [this](const spin_reads::entry& r) { return memory_.newest(r.word) > r.store; });
}

std::string engine::why_all_wait() const {
    std::string text = "a lost wake or a deadlock: every thread waits";
    for (thread_id t = 1; t <= subject_.threads; ++t) {
        const thread_state& each = threads_[t];
        const char* const how = each.now == status::finished     ? "has ended"
                                : each.now == status::unborn     ? "was not started"
                                : each.now == status::parked     ? "sleeps"
                                : each.now == status::wants_lock ? "waits for a lock"
                                                                 : "spins";
        text += ", thread " + std::to_string(t) + " " + how;
    }
    return text;
}

// ---- States

void engine::note_state() {
    if (!exploring_ || depth_ != path_.size() || tracing_) {
        return;  // the execution still follows a path that was taken before
    }
    if (!seen_.insert(state())) {
        abandon();
    }
}

std::uint64_t engine::state() const {
    std::uint64_t h = memory_.hash(subject_.threads);
    if (subject_.digest) {
        h = mix(h, subject_.digest(model_));
    }
    for (thread_id t = 1; t <= subject_.threads; ++t) {
        const thread_state& each = threads_[t];
        // What a finished thread has read no longer matters if the model's digest has the outcome.
        h = mix(h, each.now == status::finished && subject_.digest ? 0 : each.history);
        h = mix(h, static_cast<std::uint64_t>(each.now) << 8U | each.waits_for);
        for (const spin_reads* reads : {&each.reads, &each.before}) {
            for (const spin_reads::entry& r : reads->last) {
                const std::uint64_t which = !memory_.sequential()              ? r.store
                                            : reads->count == 0                ? 0
                                            : memory_.newest(r.word) > r.store ? 2
                                                                               : 1;
                h = mix(h, std::uint64_t{r.word} << 16U | which << 8U | reads->count);
            }
        }
    }
    for (const lock_state& l : locks_) {
        if (l.held || l.hands_on.clock != knowledge{}.clock) {
            h = mix(h, l.hands_on.hash() + (l.held ? 1 : 0));
        }
    }
    if (result_.bound.preemptions != bounds::none) {
        h = mix(h, std::uint64_t{running_} << 8U | preemptions_);
    }
    return h;
}

void engine::note_read(word_id w, unsigned store) noexcept {
    threads_[running_].reads.note(w, store);
    last_seen_[running_][w] = memory_.value(w, store);
}

}  // namespace model
