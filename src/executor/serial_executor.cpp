#include "spool/executor/serial_executor.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <exception>
#include <string>
#include <thread>
#include <utility>

#include "spool/base/error.hpp"
#include "spool/base/mutex.hpp"
#include "spool/base/task_scope.hpp"

namespace spool::inline v1 {

// The tasks that wait, and the one drain at a time that runs them on the target.
//
// A drain is numbered when it is handed to the target. Three things can become of it, each noted under mutex_:
//   started   it runs: it takes the tasks one by one and ends when there is none left (or by handing over to a successor)
//   dropped   it was destroyed unrun while the target's execute() had not returned yet: the target refused it
//   dropped later, after it was accepted: what waits is destroyed
// `draining_` is true from the decision to hand one over until there is none: who adds a task meanwhile need do no more.
class serial_executor::lane : public std::enable_shared_from_this<lane> {
public:
    explicit lane(executor& target) noexcept : target_(target) {}

    void add(task work) {
        const task_id id = work.id();
        {
            const detail::lock_guard lock{mutex_};
            waiting_.push_back(std::move(work));
            if (std::exchange(draining_, true)) {
                return;
            }
        }
        std::exception_ptr error;
        if (hand_over(error, {}) == handed::refused) {
            refuse(id);
        }
        if (error != nullptr) {  // the refusal, or (where the target runs it in place) what a task threw
            std::rethrow_exception(error);
        }
    }

private:
    static constexpr int tasks_per_turn = 32;

    class drain {
    public:
        drain(std::shared_ptr<lane> owner, std::uint64_t number) noexcept
            : lane_(std::move(owner)), number_(number) {}
        drain(drain&&) noexcept = default;
        drain& operator=(drain&&) = delete;
        ~drain() {
            if (lane_ != nullptr) {
                lane_->drop(number_);
            }
        }
        void operator()() {
            const std::shared_ptr<lane> running = std::move(lane_);
            if (running != nullptr) {  // empty when a task that was handed back is called a second time
                running->run(number_);
            }
        }

    private:
        std::shared_ptr<lane> lane_;
        std::uint64_t number_;
    };

    enum class handed { over, refused, in_place };

    // Gives the target a new drain; draining_ is true and stays so. `error` is what came out of execute(). A drain that the
    // target runs in place, on the thread `from` of the drain before it, only says so: that one carries on, and the stack
    // does not grow.
    handed hand_over(std::exception_ptr& error, std::thread::id from) {
        std::uint64_t number = 0;
        {
            const detail::lock_guard lock{mutex_};
            number = ++last_number_;
            handing_ = number;
            from_ = from;
        }
        try {
            target_.execute(drain{shared_from_this(), number});
        } catch (...) {
            error = std::current_exception();
        }
        const detail::lock_guard lock{mutex_};
        if (handing_ == number) {
            handing_ = 0;
        }
        if (in_place_ == number) {
            return handed::in_place;
        }
        return started_ >= number || (dropped_ != number && error == nullptr) ? handed::over
                                                                              : handed::refused;
    }

    void drop(std::uint64_t number) noexcept {
        std::deque<task> lost;
        {
            const detail::lock_guard lock{mutex_};
            if (handing_ == number) {
                dropped_ = number;  // hand_over() will see it
                return;
            }
            lost.swap(waiting_);
            draining_ = false;
        }
        report_loss(lost);
    }

    // The target did not take the drain that was to run this task: it and what was added behind it will not run.
    void refuse(task_id id) noexcept {
        std::deque<task> lost;
        {
            const detail::lock_guard lock{mutex_};
            lost.swap(waiting_);
            draining_ = false;
        }
        std::erase_if(lost, [id](const task& t) {
            return t.id() == id;
        });  // its submitter is told, or the target dropped it
        report_loss(lost);
    }

    static void report_loss(const std::deque<task>& lost) noexcept {
        const auto plain =
            std::count_if(lost.begin(), lost.end(), [](const task& t) { return !t.brings_scope(); });
        if (plain > 0) {
            report_uncaught("serial_executor",
                            std::make_exception_ptr(rejected_execution(
                                rejection_reason::shut_down, "the target of serial_executor",
                                std::to_string(plain) + " waiting tasks destroyed")));
        }
    }

    bool next(task& work) noexcept {
        const detail::lock_guard lock{mutex_};
        if (waiting_.empty()) {
            draining_ = false;
            return false;
        }
        work = std::move(waiting_.front());
        waiting_.pop_front();
        return true;
    }
    bool anything_waits() noexcept {
        const detail::lock_guard lock{mutex_};
        draining_ = !waiting_.empty();
        return draining_;
    }

    void run(std::uint64_t number) {
        {
            const detail::lock_guard lock{mutex_};
            started_ = std::max(started_, number);
            if (handing_ == number && from_ == std::this_thread::get_id()) {
                in_place_ = number;
                return;
            }
        }
        std::exception_ptr first;  // comes out at the end, where the target runs everything in place
        task work;
        for (int turn = 1; next(work); ++turn) {
            std::exception_ptr thrown;
            try {
                const task_scope scope{work};
                call(work, scope);
            } catch (...) {
                thrown = std::current_exception();
            }
            work = nullptr;
            if (thrown == nullptr && turn < tasks_per_turn) {
                continue;
            }
            turn = 0;
            std::exception_ptr refusal;
            const bool more = anything_waits();
            const handed how = more ? hand_over(refusal, std::this_thread::get_id()) : handed::over;
            if (thrown != nullptr && first == nullptr && how != handed::refused) {
                first = thrown;
            } else if (thrown != nullptr) {  // one too many, or the target is gone
                report_uncaught("a task of serial_executor", thrown);
            }
            if (how == handed::over) {
                break;
            }
        }
        if (first != nullptr) {
            std::rethrow_exception(first);
        }
    }

    // Leaving a task whose stop was requested, `interrupted` is a normal end.
    static void call(task& work, const task_scope& scope) {
        try {
            work();
        } catch (const interrupted&) {
            if (!scope.stop_requested()) {
                throw;
            }
        }
    }

    executor& target_;
    detail::mutex mutex_;  // guards everything below; never held while user code runs
    std::deque<task> waiting_ SPOOL_GUARDED_BY(mutex_);  // oldest first
    bool draining_ SPOOL_GUARDED_BY(mutex_) = false;
    std::uint64_t last_number_ SPOOL_GUARDED_BY(mutex_) = 0;
    // The thread that hands it over, if it is that of a drain.
    std::thread::id from_ SPOOL_GUARDED_BY(mutex_);
    std::uint64_t in_place_ SPOOL_GUARDED_BY(mutex_) = 0;  // the last that found itself on that very thread
    // The drain that a hand_over() under way gives to the target.
    std::uint64_t handing_ SPOOL_GUARDED_BY(mutex_) = 0;
    std::uint64_t dropped_ SPOOL_GUARDED_BY(mutex_) = 0;  // the last that was dropped while being handed over
    std::uint64_t started_ SPOOL_GUARDED_BY(mutex_) = 0;  // the last that ran
};

serial_executor::serial_executor(executor& target) : lane_(std::make_shared<lane>(target)) {}
serial_executor::~serial_executor() = default;

void serial_executor::execute(task work) {
    require_callable(work, "serial_executor");
    lane_->add(std::move(work));
}

}  // namespace spool::inline v1
