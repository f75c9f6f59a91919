// task_backlog: the tasks that wait in a pool. It owns the queue and counts the stale entries in it,
// and the tasks that workers keep (see kept_tasks.hpp).
//
// B1  The waiter that claims a body raises the count of stale entries, and the thread that removes
//     the entry lowers it, each once.
// B2  A published task is in one place: with its submitter, in the queue, kept by a worker, or with
//     the thread that took it out.
//
// No lock: the queue has its own. The queue may be user code, so no caller may hold a lock, and
// every function without noexcept may throw what the queue throws.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pool/measure/sample_filter.hpp"
#include "spool/base/function_ref.hpp"
#include "spool/base/task.hpp"
#include "spool/detail/cache_line.hpp"
#include "spool/queue/blocking_queue.hpp"
#include "spool/sync/wait_limits.hpp"

namespace spool::inline v1 {

class task_backlog {
public:
    /// Identifies one submission of a task. A periodic task is requeued under the same id, and after
    /// a run its queue entry belongs to another submission.
    struct ticket {
        static constexpr std::uint64_t any = ~std::uint64_t{0};
        task_id id;
        std::uint64_t runs;  // runs before this submission; `any`: each submission of the task
    };
    [[nodiscard]] static ticket ticket_of(const task& work);

    /// Which tasks remember when they were submitted (see timed_body).
    enum class timing : std::uint8_t { none, all_tasks, tasks_without_due_time };

    /// `owner`: the pool, as futures name it (see future_link). `label` names the pool in messages,
    /// and must outlive this. `queue` may be null until first use.
    task_backlog(std::unique_ptr<blocking_queue<task>> queue, const void* owner, const std::string& label,
                 timing times, bool queue_first = false) noexcept;

    // ---- A task arrives

    /// \throws std::invalid_argument, naming the pool, if the task is empty
    void require(const task& work) const;
    /// Sets what must be known before another thread can see the task: its submission time, and the
    /// owner of its future. If it throws, `work` is untouched. \throws as require()
    ticket publish(task& work) const;
    /// Whether publish() has anything to do; if not, the ticket is {work.id(), 0}.
    [[nodiscard]] bool needs_publication(const task& work) const noexcept {
        return !work.is_plain() || samples_.wants(work.id());
    }
    /// Undoes publish() for a task that the pool refuses. Returns false, and empties `work`, if a
    /// waiting worker has claimed the body meanwhile; then the pool has accepted the task.
    [[nodiscard]] bool try_withdraw(task& work);
    /// For a task whose offer threw. Returns false if the queue, or a waiting worker, has the task.
    [[nodiscard]] bool try_recover(task& work) { return !work.empty() && try_withdraw(work); }
    /// Retries after a sweep: a stale entry must not take the room of a task.
    [[nodiscard]] bool offer(task& work) {
        if (queue_->offer(std::move(work))) [[likely]] {
            return true;
        }
        return offer_after_sweep(work);
    }
    /// Returns how many tasks, from the front, the queue took.
    [[nodiscard]] std::size_t offer_some(std::span<task> work) { return queue_->offer_some(work); }
    /// Publishes and enqueues a task once there is room. `wait` calls the sleep that it gets, any
    /// number of times, and returns what the last sleep returned. The task is as before unless the
    /// result is `ready`. Waiters may claim it only once it is in the queue.
    using sleeper = function_ref<wait_result(const wait_limits&)>;
    wait_result offer_when_room(task& work, function_ref<bool()> give_up,
                                function_ref<wait_result(sleeper)> wait);

    // ---- A task is taken out

    [[nodiscard]] bool poll_into(task& next) {
        if (!queue_->poll_into(next)) {
            return false;
        }
        reset_poll_failures();
        return true;
    }
    wait_result pop_until(std::optional<task>& next, const wait_limits& limits, function_ref<bool()> give_up);
    /// Claims an entry that the caller has taken out and is about to run or drop. Returns false, and
    /// empties `entry`, if the entry is stale: a waiter runs or ran the body.
    [[nodiscard]] bool try_claim(task& entry) noexcept;
    /// Takes a task out again after a late refusal.
    [[nodiscard]] std::optional<task> take_back(ticket wanted);
    /// Takes a task out, if it is due by `now`, for a thread that will run it. Does not claim it.
    [[nodiscard]] task take_if_due(task_id wanted, due_time now);
    /// Takes all tasks out, to hand them back. Drops the children of task groups: only their group
    /// may run them, and their destructor tells the group.
    [[nodiscard]] std::vector<task> take_all();
    /// Takes the head out, which makes room. Returns false if the queue is empty. `victim` stays
    /// empty if the head was a stale entry.
    [[nodiscard]] bool evict_oldest(task& victim);
    /// Removes the cancelled tasks, and returns how many.
    std::size_t purge();

    // ---- Stale entries and kept tasks

    /// Called by a waiter that has claimed the body of a queued task, which makes the entry stale.
    /// Counts the entry, then sweeps the queue if stale entries would take the room of tasks, or
    /// pile up. If the queue throws, the entry is counted and stays until a worker dequeues it.
    void add_stale_entry();
    void add_kept() noexcept { kept_.fetch_add(1); }
    void remove_kept() noexcept { kept_.fetch_sub(1); }

    // ---- Looking at the queue

    [[nodiscard]] blocking_queue<task>& queue() const noexcept { return *queue_; }
    [[nodiscard]] bool has_queue() const noexcept { return queue_ != nullptr; }
    /// Number of tasks: without stale entries, and with the tasks that workers keep.
    [[nodiscard]] std::size_t size() const;
    [[nodiscard]] bool is_empty() const { return queue_->empty(); }
    /// Asks a queue that throws once more: the caller may be the last thread that checks it. If the
    /// queue throws again, it counts as not empty.
    [[nodiscard]] bool is_surely_empty() const noexcept;
    [[nodiscard]] bool contains(task_id id) const;
    [[nodiscard]] bool contains_due(task_id id, due_time now) const;
    /// Whether the queue keeps a store per consumer, in which a group finds its children.
    [[nodiscard]] bool has_stores() const noexcept { return has_stores_; }
    /// Whether the queue was unbounded when sample_capacity() asked it last.
    [[nodiscard]] bool was_unbounded() const noexcept { return unbounded_.load(); }
    void sample_capacity() noexcept;
    /// Counts one more failure of the queue in a row, and returns how many came before it.
    unsigned count_poll_failure() noexcept { return poll_failures_.fetch_add(1); }

    /// Which tasks get a stamp when they are submitted.
    [[nodiscard]] sample_filter& samples() noexcept { return samples_; }
    [[nodiscard]] const sample_filter& samples() const noexcept { return samples_; }

    // ---- Waking

    /// See blocking_queue::synchronize_with_producers().
    void synchronize_with_producers() const noexcept { queue_->synchronize_with_producers(); }
    void wake_consumers() noexcept { queue_->wake_consumers(); }
    void wake_producers() noexcept { queue_->wake_producers(); }
    void wake_all() noexcept {
        wake_consumers();
        wake_producers();
    }

private:
    void wrap(task& work) const;
    void wrap_sample(task& work) const noexcept;
    static void unwrap(task& work);
    bool offer_after_sweep(task& work);
    bool sweep_stale_entries();
    void drop_stale(task& entry) noexcept;
    // Stores only on a change, since all workers share the word.
    void reset_poll_failures() noexcept {
        if (poll_failures_.load(std::memory_order_relaxed) != 0) {  // relaxed, hint
            poll_failures_.store(0, std::memory_order_relaxed);     // relaxed, hint
        }
    }

    const std::unique_ptr<blocking_queue<task>> queue_;
    const void* const owner_;
    std::atomic<unsigned> poll_failures_{0};  // in a row; only decides how long workers back off
    sample_filter samples_;
    const timing timing_;
    const bool queue_first_;
    const bool has_stores_;
    std::atomic<bool> unbounded_{false};
    const std::string& label_;
    // On their own cache line: every task reads the members above.
    alignas(cache_line) std::atomic<std::ptrdiff_t> stale_{0};
    std::atomic<std::size_t> kept_{0};
};

}  // namespace spool::inline v1
