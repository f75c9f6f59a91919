#include "pool/backlog.hpp"

#include <algorithm>

#include "pool/worker/timed_body.hpp"
#include "spool/detail/future_link.hpp"
#include "spool/detail/pause_point.hpp"

namespace spool::inline v1 {
namespace {

void wrap_in_stamp(task& work, std::uint32_t period) {
    timed_body timed{work, period};
    work = task{std::move(timed)};  // fits inline: cannot throw
    // Hands over the memory of the wrapper too.
    detail::hand_over_in_library(detail::sanitizer_key_of(work.id()));
}

}  // namespace

task_backlog::task_backlog(std::unique_ptr<blocking_queue<task>> queue, const void* owner,
                           const std::string& label, timing times, bool queue_first) noexcept
    : queue_(std::move(queue)),
      owner_(owner),
      samples_(times != timing::none),
      timing_(times),
      queue_first_(queue_first),
      has_stores_(queue_ != nullptr && queue_->keeps_store_per_consumer()),
      label_(label) {}

auto task_backlog::ticket_of(const task& work) -> ticket {
    const future_link link{work};
    return {work.id(), link ? link.runs() : 0};
}

// ---- A task arrives

void task_backlog::require(const task& work) const {
    if (work.empty()) {
        detail::throw_empty_callable(label_);
    }
}

// Waiters never claim a task with a due time.
auto task_backlog::publish(task& work) const -> ticket {
    require(work);
    wrap(work);  // first, since this may throw
    if (const future_link link{work}; link) {
        // The filter wants every task that has a stamp; to compare types costs more.
        if (const auto* timed = samples_.wants(work.id()) ? work.target<timed_body>() : nullptr) {
            link.set_submitted(timed->submitted());
        }
        if (work.due() == due_time::min()) {
            static_cast<void>(link.set_home(owner_));
        } else {
            link.set_keeper(owner_);
        }
    }
    return ticket_of(work);
}

void task_backlog::wrap(task& work) const {
    // In a derived pool a task with a due time has waited since that time; see info_of().
    if (timing_ == timing::all_tasks ||
        (timing_ == timing::tasks_without_due_time && work.due() == due_time::min())) {
        wrap_in_stamp(work, 1);
    } else if (samples_.wants(work.id())) {
        wrap_sample(work);
    }
}

// Without memory the task is not timed. In a derived pool a task with a due time needs no stamp.
void task_backlog::wrap_sample(task& work) const noexcept {
    try {
        const std::uint32_t period = samples_.period();
        if (period != 0 && timing_ == timing::none && !(queue_first_ && work.due() != due_time::min())) {
            wrap_in_stamp(work, period);
        }
    } catch (...) {  // nothing has changed
    }
}

void task_backlog::unwrap(task& work) {
    if (auto* timed = work.target<timed_body>()) {
        work = timed->release();
    }
}

bool task_backlog::try_withdraw(task& work) {
    unwrap(work);
    if (const future_link link{work}; link && !link.set_home(nullptr)) {
        drop_stale(work);
        return false;
    }
    return true;
}

bool task_backlog::offer_after_sweep(task& work) {
    return sweep_stale_entries() && queue_->offer(std::move(work));
}

wait_result task_backlog::offer_when_room(task& work, function_ref<bool()> give_up,
                                          function_ref<wait_result(sleeper)> wait) {
    const late_home home{work};
    wrap(work);
    wait_result how = wait_result::gave_up;
    try {
        how = wait([&](const wait_limits& limits) { return queue_->push_until(work, limits, give_up); });
    } catch (...) {  // from the queue: nothing has changed
        unwrap(work);
        throw;
    }
    if (how == wait_result::ready) {
        SPOOL_PAUSE_POINT("execute_for: in the queue, without a home");
        home.set(owner_);
    } else {
        unwrap(work);
    }
    return how;
}

// ---- A task is taken out

wait_result task_backlog::pop_until(std::optional<task>& next, const wait_limits& limits,
                                    function_ref<bool()> give_up) {
    const wait_result how = queue_->pop_until(next, limits, give_up);
    if (how == wait_result::ready) {
        reset_poll_failures();
    }
    return how;
}

bool task_backlog::try_claim(task& entry) noexcept {
    if (const future_link link{entry}; link && !link.claim(owner_)) {
        drop_stale(entry);
        return false;
    }
    return true;
}

std::optional<task> task_backlog::take_back(ticket wanted) {
    std::vector<task> found = queue_->take_if([wanted](const task& t) {
        const future_link link{t};
        return t.id() == wanted.id && (!link || wanted.runs == ticket::any || link.runs() == wanted.runs);
    });
    if (found.empty()) {
        return std::nullopt;
    }
    if (const future_link link{found.front()}; link && !link.take_home_away()) {
        drop_stale(found.front());
        return std::nullopt;
    }
    return std::move(found.front());
}

task task_backlog::take_if_due(task_id wanted, due_time now) {
    std::vector<task> found =
        queue_->take_if([wanted, now](const task& t) { return t.id() == wanted && t.due() <= now; });
    return found.empty() ? task{} : std::move(found.front());
}

std::vector<task> task_backlog::take_all() {
    std::vector<task> all = queue_->take_if([](const task&) { return true; });
    std::size_t kept = 0;
    for (task& t : all) {
        unwrap(t);
        if (const future_link link{t}; link && !link.take_home_away()) {
            drop_stale(t);
        } else if (t.owner() != nullptr) {
            t = nullptr;
        } else {
            all[kept++] = std::move(t);
        }
    }
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(kept), all.end());
    return all;
}

bool task_backlog::evict_oldest(task& victim) {
    std::optional<task> oldest = queue_->poll();
    if (!oldest.has_value()) {
        return false;
    }
    if (try_claim(*oldest)) {
        victim = *std::move(oldest);
    }
    return true;
}

std::size_t task_backlog::purge() {
    std::vector<task> gone = queue_->take_if([](const task& t) {
        const future_link link{t};
        return link ? link.is_stale() || link.is_cancelled() : t.is_cancelled();
    });
    return static_cast<std::size_t>(
        std::count_if(gone.begin(), gone.end(), [this](task& t) { return try_claim(t); }));
}

// ---- Stale entries

void task_backlog::drop_stale(task& entry) noexcept {
    stale_.fetch_sub(1);
    entry = nullptr;
}

// The entry must not take the room that a blocked submitter waits for, so this sweeps a full queue.
// Nor may stale entries pile up while all workers wait. So this also sweeps when they are half of
// the queue, which costs a constant per entry.
void task_backlog::add_stale_entry() {
    constexpr std::ptrdiff_t few = 64;
    const std::ptrdiff_t stale = stale_.fetch_add(1) + 1;
    SPOOL_PAUSE_POINT("nested wait: claimed");
    if (queue_->remaining_capacity() == 0 ||
        (stale >= few && 2 * stale >= static_cast<std::ptrdiff_t>(queue_->size()))) {
        sweep_stale_entries();
    }
}

// Returns true if that made room.
bool task_backlog::sweep_stale_entries() {
    if (stale_.load() <= 0) {
        return false;
    }
    const std::vector<task> stale = queue_->take_if([](const task& t) {
        const future_link link{t};
        return link && link.is_stale();
    });
    stale_.fetch_sub(static_cast<std::ptrdiff_t>(stale.size()));
    return !stale.empty();
}

// ---- Looking at the queue

std::size_t task_backlog::size() const {
    const auto entries = static_cast<std::ptrdiff_t>(queue_->size() + kept_.load()) - stale_.load();
    return static_cast<std::size_t>(std::max<std::ptrdiff_t>(entries, 0));
}

bool task_backlog::is_surely_empty() const noexcept {
    for (int attempt = 0; attempt < 2; ++attempt) {
        try {
            return queue_->empty();
        } catch (...) {  // below
        }
    }
    return false;
}

bool task_backlog::contains(task_id id) const {
    return queue_->contains([id](const task& t) {
        const future_link link{t};
        return t.id() == id && (!link || !link.is_stale());
    });
}

bool task_backlog::contains_due(task_id id, due_time now) const {
    return queue_->contains([id, now](const task& t) { return t.id() == id && t.due() <= now; });
}

void task_backlog::sample_capacity() noexcept {
    try {
        unbounded_.store(queue_->capacity() == blocking_queue<task>::unlimited);
    } catch (...) {
        unbounded_.store(false);
    }
}

}  // namespace spool::inline v1
