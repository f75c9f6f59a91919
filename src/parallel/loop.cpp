// The steps of a loop; spool/parallel/detail/loop.hpp describes them.
#include "spool/parallel/detail/loop.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "parallel/loop_clock.hpp"
#include "pool/pool.hpp"
#include "pool/worker/worker_wait_context.hpp"
#include "spool/base/default_parallelism.hpp"
#include "spool/base/error.hpp"
#include "spool/detail/thread_sanitizer.hpp"
#include "spool/sync/this_task.hpp"

namespace spool::inline v1::detail {
namespace {

// A fork pays if at least this much work is left, and at least `trusted` was measured. The first
// element of a loop is slow, because code and data come from memory: by itself it counts only if it
// took `trusted_alone`.
constexpr std::uint64_t worth_a_fork = loop_clock::from_ns(3000);
// Inside another loop the other threads probably have work, so a fork pays later.
constexpr std::uint64_t worth_a_nested_fork = loop_clock::from_ns(25000);
constexpr std::uint64_t trusted = loop_clock::from_ns(1000);
constexpr std::uint64_t trusted_alone = loop_clock::from_ns(20000);
// How long a block of the caller alone may take, by the estimate: it cannot be shared.
constexpr std::uint64_t block_alone = loop_clock::from_ns(2000);
// How long a block of a participant may take, by the estimate: nobody can take part of it.
constexpr std::uint64_t block_time = loop_clock::from_ns(16000);

// Near the end of a slot a block may be half of what is left, but hardly shorter than this.
constexpr std::uint64_t least_block = loop_clock::from_ns(1000);

constexpr std::uint32_t growth = 8;  // of the caller's blocks before the fork

constexpr std::uint32_t max_units = std::numeric_limits<std::uint32_t>::max();

// How many loops the calling thread runs blocks of, one inside the other.
constinit thread_local unsigned loops_here = 0;

struct inside_loop {
    inside_loop() noexcept { ++loops_here; }
    inside_loop(const inside_loop&) = delete;
    inside_loop& operator=(const inside_loop&) = delete;
    ~inside_loop() { --loops_here; }
};

}  // namespace

std::size_t loop_cpus() noexcept {
    static const std::size_t cpus = default_parallelism();  // reads files
    return cpus;
}

std::size_t loop_participants(const thread_pool_executor& pool) {
    const std::size_t cpus = loop_cpus();
    const std::size_t core = pool.core_size();
    const std::size_t workers = core != 0 ? core : std::min(pool.maximum_size(), cpus);
    const bool is_outside = worker_wait_context::of(&pool_access::of(pool)) == nullptr;
    return is_outside ? std::min(workers + 1, std::max(workers, cpus)) : workers;
}

loop::loop(thread_pool_executor& pool, const loop_shape& shape, std::size_t participants, body_type body)
    : pool_(pool), shape_(shape), body_(body), participants_(participants) {
    const std::size_t grain = std::max<std::size_t>(shape.grain, 1);
    if (shape.chunks != 0) {
        const std::size_t most = std::max<std::size_t>(shape.count / grain, 1);
        units_ = static_cast<std::uint32_t>(
            std::min<std::size_t>({shape.chunks, most, shape.count, std::size_t{max_units}}));
        return;
    }
    // A huge loop has larger units: a multiple of the grain.
    unit_size_ = grain;
    std::uint64_t units = shape.count / grain + (shape.count % grain != 0 ? 1 : 0);
    if (units > max_units) {
        const std::uint64_t factor = units / max_units + 1;
        unit_size_ *= factor;
        units = units / factor + (units % factor != 0 ? 1 : 0);
    }
    units_ = static_cast<std::uint32_t>(units);
}

// The first element of a unit.
std::size_t loop::element(std::uint32_t unit) const noexcept {
    if (shape_.chunks == 0) {
        return unit < units_ ? static_cast<std::size_t>(unit * unit_size_) : shape_.count;
    }
    // The first `longer` chunks have one element more than the others.
    const std::size_t size = shape_.count / units_;
    const std::size_t longer = shape_.count % units_;
    return unit * size + std::min<std::size_t>(unit, longer);
}

void loop::run() {
    if (units_ == 0) {
        return;
    }
    if (!run_alone()) {
        fork_and_join();
    }
}

// Step 1. Returns true if the loop has ended.
bool loop::run_alone() {
    const bool is_forked_at_once = shape_.chunks != 0 && participants_ > 1 && units_ > 1;
    if (is_forked_at_once) {
        return false;
    }
    const bool may_fork = participants_ > 1;
    const std::uint64_t worth = loops_here == 0 ? worth_a_fork : worth_a_nested_fork;
    const inside_loop mark;
    std::uint32_t size = 1;
    const ticks start = loop_clock::now();
    ticks before = start;
    for (;;) {
        if (must_stop()) {
            throw_if_incomplete();
        }
        const std::uint32_t last = done_alone_ + std::min(size, units_ - done_alone_);
        body_(element(done_alone_), element(last), 0);
        const std::uint32_t ran = last - std::exchange(done_alone_, last);
        if (done_alone_ == units_) {
            return true;
        }
        const ticks now = loop_clock::now();
        // The last block tells more than the first ones; the average does if it was interrupted.
        // At least 1: a clock may stand still for a while.
        const ticks of_last = (now - std::exchange(before, now)) / ran;
        per_unit_ = std::max<ticks>(std::min(of_last, (now - start) / done_alone_), 1);
        const std::uint64_t left = units_ - done_alone_;
        const ticks enough = done_alone_ == 1 ? trusted_alone : trusted;
        if (may_fork && now - start >= enough && left > 1 && left >= worth / per_unit_) {
            return false;
        }
        size = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
            block_alone / per_unit_, 1, std::min<std::uint64_t>(std::uint64_t{size} * growth, max_units)));
        if (shape_.chunks != 0) {
            size = 1;
        }
    }
}

// Steps 2 to 4.
void loop::fork_and_join() {
    std::array<loop_slot, few> some;
    std::vector<loop_slot> many;
    slots_ = some.data();
    participants_ = std::min<std::size_t>(participants_, units_ - done_alone_);
    if (participants_ > few) {
        try {
            many = std::vector<loop_slot>(participants_);
            slots_ = many.data();
        } catch (const std::bad_alloc&) {
            participants_ = few;
        }
    }
    // Cuts all units, so that each participant gets the same part in the next loop of this kind.
    std::uint32_t first = done_alone_;
    for (std::size_t i = 0; i < participants_; ++i) {
        const auto cut = static_cast<std::uint32_t>(std::uint64_t{units_} * (i + 1) / participants_);
        const std::uint32_t last = std::max(first, cut);
        slots_[i].fill({first, last});
        first = last;
    }
    slots_[0].units_run = done_alone_;
    hand_over_in_library(this);  // with what the body refers to
    {
        task_group helpers{pool_};
        helpers.expose(true);
        for (std::size_t i = 1; i < participants_; ++i) {
            helpers.run([this, i, &helpers] {
                receive_in_library(this);
                participate(i, &helpers);
                hand_over_in_library(this);
            });
        }
        helpers.expose(false);
        participate(0, nullptr);
        try {
            helpers.wait();
        } catch (const interrupted&) {
            interrupted_ = !shape_.is_step;
        } catch (const cancelled&) {
            // The pool dropped a helper, or this is a forked child. The counts tell.
        }
    }
    receive_in_library(this);
    if (!stopped_.load() && !interrupted_) {
        participate(0, nullptr);  // what helpers left
    }
    if (failed_.load()) {
        std::rethrow_exception(error_);
    }
    throw_if_incomplete();
}

// Step 3. `helpers` is null for the caller.
void loop::participate(std::size_t participant, const task_group* helpers) noexcept {
    const inside_loop mark;
    loop_slot& slot = slots_[participant];
    ticks per_unit = std::max<ticks>(per_unit_, 1);
    ticks before = loop_clock::now();
    const bool by_chunk = shape_.chunks != 0;
    do {
        for (;;) {
            // A helper whose pool stops leaves its slot to the others.
            if (helpers != nullptr && (this_task::stop_requested() || helpers->is_cancelled())) {
                return;
            }
            const std::uint64_t most = by_chunk ? 1 : block_time / per_unit;
            const std::uint64_t least = by_chunk ? 1 : least_block / per_unit;
            const unit_range mine = slot.claim([=](std::uint32_t left) {
                const std::uint64_t fair = std::max<std::uint64_t>(left / 2, least);
                return static_cast<std::uint32_t>(std::min<std::uint64_t>({fair, most, left}));
            });
            if (mine.empty()) {
                break;
            }
            if (!run_block(mine, participant)) {
                return;
            }
            const ticks now = loop_clock::now();
            per_unit = std::max<ticks>((now - std::exchange(before, now)) / mine.size(), 1);
        }
    } while (refill(participant));
}

// Takes the back half of the fullest slot. Returns false if all are empty.
bool loop::refill(std::size_t participant) noexcept {
    for (;;) {
        loop_slot* fullest = nullptr;
        std::uint32_t most = 0;
        for (std::size_t i = 1; i < participants_; ++i) {
            loop_slot& other = slots_[(participant + i) % participants_];
            if (const std::uint32_t left = other.left(); left > most) {
                most = left;
                fullest = &other;
            }
        }
        if (fullest == nullptr) {
            return false;
        }
        if (const unit_range taken = fullest->steal(); !taken.empty()) {
            slots_[participant].fill(taken);
            return true;
        }
    }
}

// Returns false if the loop must stop.
bool loop::run_block(unit_range r, std::size_t participant) noexcept {
    if (stopped_.load() || (participant == 0 ? must_stop() : shape_.stop.stop_requested())) {
        stopped_.store(true);
        return false;
    }
    try {
        body_(element(r.first), element(r.last), participant);
    } catch (...) {
        if (!failed_.exchange(true)) {
            error_ = std::current_exception();
        }
        stopped_.store(true);
        return false;
    }
    slots_[participant].units_run += r.size();
    return true;
}

// Caller: whether a stop was requested, of its task or by the options.
bool loop::must_stop() noexcept {
    interrupted_ =
        interrupted_ || shape_.stop.stop_requested() || (!shape_.is_step && this_task::stop_requested());
    return interrupted_;
}

void loop::throw_if_incomplete() const {
    std::uint64_t ran = done_alone_;
    for (std::size_t i = 0; slots_ != nullptr && i < participants_; ++i) {
        ran = (i == 0 ? 0 : ran) + slots_[i].units_run;
    }
    if (ran == units_) {
        return;
    }
    if (interrupted_ || stopped_.load()) {
        throw interrupted(std::string{shape_.name} + ": stop requested before every element was visited");
    }
    throw cancelled(std::string{shape_.name} + ": threads that took part are lost in a forked process");
}

}  // namespace spool::inline v1::detail
