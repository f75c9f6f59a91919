// A bounded queue that tests can look into: it tells when a submitter waits for room, and it can be made to look empty.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <vector>

#include <spool/spool.hpp>

#include "support/gate.hpp"

namespace test {

struct queue_script {
    std::atomic<int> waiting_for_room{0};  ///< submitters inside push_until
    std::atomic<bool> plays_empty{false};  ///< takers find nothing, and their waits time out at once
    std::atomic<int> looks_while_empty{0};
};

class scripted_queue final : public spool::blocking_queue<spool::task> {
public:
    scripted_queue(std::size_t capacity, queue_script& script) : inner_(capacity), script_(script) {}

    [[nodiscard]] std::size_t size() const override { return inner_.size(); }
    [[nodiscard]] std::size_t capacity() const override { return inner_.capacity(); }

    spool::wait_result push_until(spool::task& x, const spool::wait_limits& limits,
                                  spool::function_ref<bool()> give_up) override {
        ++script_.waiting_for_room;
        const spool::wait_result how = blocking_queue::push_until(x, limits, give_up);
        --script_.waiting_for_room;
        return how;
    }
    spool::wait_result pop_until(std::optional<spool::task>& x, const spool::wait_limits& limits,
                                 spool::function_ref<bool()> give_up) override {
        if (script_.plays_empty) {
            return spool::wait_result::timed_out;
        }
        return blocking_queue::pop_until(x, limits, give_up);
    }

protected:
    bool try_push(spool::task& x) override { return inner_.offer(std::move(x)); }
    std::optional<spool::task> try_pop() override {
        if (script_.plays_empty) {
            ++script_.looks_while_empty;
            return std::nullopt;
        }
        return inner_.poll();
    }
    std::vector<spool::task> extract_if(spool::function_ref<bool(const spool::task&)> wanted) override {
        return inner_.take_if(wanted);
    }

private:
    spool::array_blocking_queue<spool::task> inner_;
    queue_script& script_;
};

}  // namespace test
