#include "spool/executor/serial_executor.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <list>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "spool/base/error.hpp"
#include "spool/detail/mutex.hpp"
#include "spool/detail/task_scope.hpp"
#include "spool/detail/thread_sanitizer.hpp"
#include "spool/queue/detached_scope.hpp"

namespace spool::inline v1 {

// THE PROTOCOL
//
// waiting_ holds the tasks, oldest first. A drain is a task for the target: it runs the waiting
// tasks. At most one drain runs. Every drain has a number, and one of these states:
//
//     offered    a thread is in target.execute() with it, and has an `offer` for it on its stack
//     queued     target.execute() has returned, and the target owns it (queued_ counts these)
//     running    it runs tasks until none waits, or until it passes its role on (running_)
//     finished   it found another drain running, or it ended
//     dropped    the target destroyed it without running it
//
// The lane is covered while a drain is queued or running. execute() on a covered lane appends the
// task and returns. On an uncovered lane every caller offers its own drain, however many other
// callers do so at the same time. So:
//
//   I1  Each waiting task has a sponsor: the drain that its own caller offers. Or the lane was
//       covered when the task came (sponsor 0).
//   I2  A refusal removes the refused caller's own task, and no other. If that task is gone,
//       another drain has run it: the call succeeds.
//   I3  When the last queued drain is dropped and none runs, every task is lost whose sponsor is no
//       longer offered.
//
// target.execute() may call user code that adds to this lane on the same thread (a rejection
// handler that logs). If such a task offered its own drain to the same target, that could repeat
// without end. Instead the task takes the outer call's sponsor. If the outer call is refused and
// the lane is not covered, the outer caller runs these tasks itself.
//
// The running drain passes its role on after 32 tasks: to a queued drain, else to a successor that
// it offers. The successor takes the role over when it starts, even before the offer has returned.
// If the target runs the successor in place, on the thread that offers it, the successor only
// reports that. Its predecessor then continues, so the stack does not grow.
//
// Moving or destroying a task calls user code. Both happen outside the lock: tasks are in nodes.
class serial_executor::lane : public std::enable_shared_from_this<lane> {
public:
    explicit lane(executor& target) noexcept : target_(target) {}
    ~lane() { detail::receive_in_library(this); }

    void add(task work) {
        entries one;
        one.emplace_back(std::move(work));
        offer mine;
        {
            const detail::lock_guard lock{mutex_};
            entry& added = one.front();
            waiting_.splice(waiting_.end(), one);
            if (is_covered()) {
                return;
            }
            if (const offer* const outer = find_offer_of(mine.thread)) {
                added.sponsor = outer->number;
                return;
            }
            mine.number = ++last_number_;
            mine.next = std::exchange(offers_, &mine);
            added.sponsor = mine.number;
            added.is_own = true;
        }
        std::exception_ptr error;
        try {
            detail::hand_over_in_library(this);
            target_.execute(drain{shared_from_this(), mine.number});
        } catch (...) {
            error = std::current_exception();
        }
        finish_offer(mine, error);
        // The refusal, or, if the target runs tasks in place, what a task threw.
        if (error != nullptr) {
            std::rethrow_exception(error);
        }
    }

private:
    static constexpr int tasks_per_drain = 32;

    class drain {
    public:
        drain(std::shared_ptr<lane> owner, std::uint64_t number) noexcept
            : lane_(std::move(owner)), number_(number) {}
        drain(drain&&) noexcept = default;
        drain& operator=(drain&&) = delete;
        ~drain() {
            if (lane_ != nullptr) {
                detail::receive_in_library(lane_.get());
                lane_->on_dropped(number_);
                detail::hand_over_in_library(lane_.get());
            }
        }
        void operator()() {
            const std::shared_ptr<lane> running = std::move(lane_);
            // Null if a task that was pass_result back is called a second time.
            if (running != nullptr) {
                detail::receive_in_library(running.get());
                running->run(number_);
                detail::hand_over_in_library(running.get());
            }
        }

    private:
        std::shared_ptr<lane> lane_;
        std::uint64_t number_;
    };

    struct entry {
        explicit entry(task t) noexcept : work(std::move(t)) {}
        task work;
        std::uint64_t sponsor = 0;
        // True for the task of the sponsor's caller; false for a task added inside that call.
        bool is_own = false;
    };
    using entries = std::list<entry>;

    enum class offer_state { open, started, in_place, dropped };

    // A drain that a thread offers to the target. Lives on that thread's stack.
    struct offer {
        std::uint64_t number = 0;
        std::thread::id thread = std::this_thread::get_id();
        offer_state state = offer_state::open;
        offer* next = nullptr;
    };

    [[nodiscard]] bool is_covered() const noexcept SPOOL_REQUIRES(mutex_) { return running_ || queued_ != 0; }
    [[nodiscard]] offer* find_offer_of(std::thread::id thread) const noexcept SPOOL_REQUIRES(mutex_) {
        offer* r = offers_;
        while (r != nullptr && r->thread != thread) {
            r = r->next;
        }
        return r;
    }
    [[nodiscard]] offer* find_offer(std::uint64_t number) const noexcept SPOOL_REQUIRES(mutex_) {
        offer* r = offers_;
        while (r != nullptr && r->number != number) {
            r = r->next;
        }
        return r;
    }
    void remove_offer(offer& done) noexcept SPOOL_REQUIRES(mutex_) {
        offer** link = &offers_;
        while (*link != &done) {
            link = &(*link)->next;
        }
        *link = done.next;
    }
    // A drain that the target kept although it threw was never counted.
    void decrement_queued() noexcept SPOOL_REQUIRES(mutex_) { queued_ -= queued_ != 0 ? 1 : 0; }

    // Handles the target's answer to the drain that a caller of add() offered. Resets `error` if
    // the task was accepted nevertheless.
    void finish_offer(offer& mine, std::exception_ptr& error) {
        entries refused;
        {
            const detail::lock_guard lock{mutex_};
            remove_offer(mine);
            if (mine.state == offer_state::started) {
                return;
            }
            if (mine.state == offer_state::open && error == nullptr) {
                ++queued_;
                return;
            }
            const auto is_mine = [&](const entry& e) { return e.sponsor == mine.number; };
            const auto own = std::find_if(waiting_.begin(), waiting_.end(),
                                          [&](const entry& e) { return is_mine(e) && e.is_own; });
            if (own == waiting_.end()) {
                error = nullptr;  // I2
            } else {
                refused.splice(refused.end(), waiting_, own);
            }
            if (is_covered() || std::none_of(waiting_.begin(), waiting_.end(), is_mine)) {
                return;
            }
            running_ = true;
        }
        if (const std::exception_ptr thrown = run_tasks()) {
            report_uncaught("a task of serial_executor", thrown);
        }
    }

    void on_dropped(std::uint64_t number) noexcept {
        entries lost;
        {
            const detail::lock_guard lock{mutex_};
            offer* const offered =
                successor_ != nullptr && successor_->number == number ? successor_ : find_offer(number);
            if (offered != nullptr) {
                // The thread that offers the drain checks this.
                offered->state = offer_state::dropped;
                return;
            }
            decrement_queued();
            if (is_covered()) {
                return;
            }
            for (auto at = waiting_.begin(); at != waiting_.end();) {  // I3
                const auto one = at++;
                if (one->sponsor == 0 || find_offer(one->sponsor) == nullptr) {
                    lost.splice(lost.end(), waiting_, one);
                }
            }
        }
        report_loss(lost);
    }

    static void report_loss(const entries& lost) noexcept {
        const auto plain =
            std::count_if(lost.begin(), lost.end(), [](const entry& e) { return !e.work.adopts_scope(); });
        if (plain > 0) {
            report_uncaught("serial_executor", std::make_exception_ptr(std::runtime_error(
                                                   "the target destroyed, unrun, what it had accepted (" +
                                                   std::to_string(plain) + " waiting tasks destroyed)")));
        }
    }

    // Moves the next task to `one`. False: no task waits, and this drain has ended.
    bool try_take_next(entries& one) noexcept {
        const detail::lock_guard lock{mutex_};
        if (waiting_.empty()) {
            running_ = false;
            return false;
        }
        one.splice(one.end(), waiting_, waiting_.begin());
        return true;
    }

    enum class pass_result { passed, refused, in_place };

    // The running drain passes its role on. Returns `passed` if it did, or if no task waits.
    pass_result try_pass_on() {
        offer mine;
        {
            const detail::lock_guard lock{mutex_};
            if (waiting_.empty() || queued_ != 0) {
                running_ = false;
                return pass_result::passed;
            }
            mine.number = ++last_number_;
            successor_ = &mine;
        }
        bool threw = false;
        try {
            const detached_scope to_the_back;  // else a work-stealing worker takes it next
            detail::hand_over_in_library(this);
            target_.execute(drain{shared_from_this(), mine.number});
        } catch (...) {
            threw = true;  // refused: this drain continues, so there is no error to report
        }
        const detail::lock_guard lock{mutex_};
        if (successor_ == &mine) {
            successor_ = nullptr;
        }
        switch (mine.state) {
            case offer_state::started: return pass_result::passed;
            case offer_state::in_place: return pass_result::in_place;
            case offer_state::dropped: return pass_result::refused;
            case offer_state::open: break;
        }
        if (threw) {
            return pass_result::refused;
        }
        ++queued_;
        running_ = false;
        return pass_result::passed;
    }

    void run(std::uint64_t number) {
        {
            const detail::lock_guard lock{mutex_};
            if (successor_ != nullptr && successor_->number == number) {
                if (successor_->thread == std::this_thread::get_id()) {
                    successor_->state = offer_state::in_place;
                    return;
                }
                std::exchange(successor_, nullptr)->state = offer_state::started;
            } else {
                if (offer* const offered = find_offer(number)) {
                    offered->state = offer_state::started;
                } else {
                    decrement_queued();
                }
                if (std::exchange(running_, true)) {
                    return;
                }
            }
        }
        if (const std::exception_ptr thrown = run_tasks()) {
            std::rethrow_exception(thrown);
        }
    }

    // Runs tasks in the role of the running drain. Returns the exception that the caller should
    // throw, or null. If the target runs everything in place, that is the first of several.
    std::exception_ptr run_tasks() {
        std::exception_ptr first;
        entries one;
        for (int count = 1; try_take_next(one); ++count) {
            std::exception_ptr thrown;
            try {
                const task_scope scope{one.front().work};
                call(one.front().work, scope);
            } catch (...) {
                thrown = std::current_exception();
            }
            one.clear();
            if (thrown == nullptr && count < tasks_per_drain) {
                continue;
            }
            count = 0;
            const pass_result how = try_pass_on();
            if (thrown != nullptr && first == nullptr && how != pass_result::refused) {
                first = thrown;
            } else if (thrown != nullptr) {  // not the first, or the target refuses work
                report_uncaught("a task of serial_executor", thrown);
            }
            if (how == pass_result::passed) {
                break;
            }
        }
        return first;
    }

    // Throws what leaves the task, unless that is a normal end.
    static void call(task& work, const task_scope& scope) {
        try {
            work();
        } catch (...) {
            if (!is_normal_exit(std::current_exception(), &scope)) {
                throw;
            }
        }
    }

    executor& target_;
    detail::mutex mutex_;  // guards everything below; never held while user code runs
    entries waiting_ SPOOL_GUARDED_BY(mutex_);
    bool running_ SPOOL_GUARDED_BY(mutex_) = false;
    std::size_t queued_ SPOOL_GUARDED_BY(mutex_) = 0;
    std::uint64_t last_number_ SPOOL_GUARDED_BY(mutex_) = 0;
    offer* offers_ SPOOL_GUARDED_BY(mutex_) = nullptr;     // by callers of add(), newest first
    offer* successor_ SPOOL_GUARDED_BY(mutex_) = nullptr;  // offered by the running drain
};

serial_executor::serial_executor(executor& target) : lane_(std::make_shared<lane>(target)) {}
serial_executor::~serial_executor() = default;

void serial_executor::execute(task work) {
    require_callable(work, "serial_executor");
    lane_->add(std::move(work));
}

}  // namespace spool::inline v1
