// Retry with exponential back-off: each pause is twice the last, and no thread blocks meanwhile.
// prints: try 1 failed\ntry 2 failed\ntry 3 failed\ntry 4: connected\n
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include <spool/spool.hpp>

using namespace std::chrono_literals;

// [retry]
// Calls `attempt` until it returns, at most `most` times. The future holds the returned value, or
// the exception of the last attempt.
class retry : public std::enable_shared_from_this<retry> {
public:
    static spool::future<std::string> start(spool::scheduled_thread_pool_executor& timers,
                                            std::function<std::string()> attempt, int most) {
        const std::shared_ptr<retry> self{new retry{timers, std::move(attempt), most}};
        spool::future<std::string> result = *self->outcome_;
        self->next(0ms);
        return result;
    }

private:
    retry(spool::scheduled_thread_pool_executor& timers, std::function<std::string()> attempt, int most)
        : timers_(timers), attempt_(std::move(attempt)), left_(most) {}

    void next(std::chrono::milliseconds pause) {
        timers_.schedule([self = shared_from_this(), pause] { self->run(pause); }, pause);
    }
    void run(std::chrono::milliseconds pause) {
        try {
            outcome_->set_value(attempt_());
        } catch (...) {
            if (--left_ == 0) {
                outcome_->set_exception(std::current_exception());
            } else {
                next(pause == 0ms ? 1ms : 2 * pause);
            }
        }
    }

    spool::scheduled_thread_pool_executor& timers_;
    const std::function<std::string()> attempt_;
    int left_;
    // Completed by hand. If the pool drops the pending attempt, the destructor cancels the future.
    std::optional<spool::future_task<std::string>> outcome_{std::in_place, [] { return std::string{}; }};
};
// [/retry]

int main() {
    spool::scheduled_thread_pool_executor timers({.name = "retry", .core_size = 1});
    int tries = 0;
    auto connection = retry::start(
        timers,
        [&]() -> std::string {
            if (++tries < 4) {
                std::printf("try %d failed\n", tries);
                throw std::runtime_error("refused");
            }
            return "connected";
        },
        10);
    // get() synchronizes with the last attempt, so `tries` may be read after it.
    const std::string& answer = connection.get();
    std::printf("try %d: %s\n", tries, answer.c_str());
}
