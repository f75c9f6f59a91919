// The lease, fence and finish protocol of spool::remote, src/remote/protocol.hpp, in every order of
// steps: two workers that may pause between any two steps or vanish, leases that may run out at any
// time, and a user who cancels. Each step is one transaction of a broker, so the steps are the only
// places where orders differ.
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "remote/protocol.hpp"

namespace {

using namespace spool::remote;
namespace protocol = spool::remote::detail;
using protocol::job_row;

constexpr int most_hand_backs = 1;

/// The protocol, with places where a test plants a fault.
struct rules {
    std::function<void(job_row&)> take = [](job_row& job) { protocol::take(job, "", 1); };
    std::function<renew_status(job_row&, std::int64_t)> renew = [](job_row& job, std::int64_t fence) {
        return protocol::renew(job, fence, 1);
    };
    std::function<finish_status(job_row&, const job_outcome&)> finish =
        [](job_row& job, const job_outcome& outcome) { return protocol::finish(job, outcome, 0); };
    std::function<bool(job_row&, std::int64_t)> hand_back = [](job_row& job, std::int64_t fence) {
        return protocol::hand_back(job, fence, 0, 0);
    };
    std::function<void(job_row&)> expire = [](job_row& job) { protocol::expire(job, 0); };
    std::function<cancel_status(job_row&)> cancel = [](job_row& job) { return protocol::cancel(job, 0); };
};

struct world {
    job_row job;
    std::array<std::int64_t, 2> fence{};  // what each worker believes to hold; zero: nothing
    std::int64_t accepted = 0;            // the fence of the outcome that the broker accepted
    int hand_backs = 0;
    bool is_cancelled = false;  // cancel() has answered `cancelled`

    [[nodiscard]] auto key() const {
        return std::tuple{job.state, job.fence, job.attempt, job.crashes, job.cancel_requested,
                          fence[0],  fence[1],  accepted,    hand_backs,  is_cancelled};
    }
};
using world_key = decltype(world{}.key());

struct found {
    std::size_t states = 0;
    std::string violation;
};

class explorer {
public:
    explicit explorer(rules r) : rules_(std::move(r)) {}

    found run() {
        world start;
        start.job.retries = 1;
        start.job.crash_limit = 2;
        add(start, nullptr);
        while (!todo_.empty() && result_.violation.empty()) {
            const world w = todo_.front();
            todo_.pop_front();
            expand(w);
        }
        if (result_.violation.empty()) {
            check_progress();
        }
        result_.states = seen_.size();
        return result_;
    }

private:
    void violated(const std::string& what) {
        if (result_.violation.empty()) {
            result_.violation = what;
        }
    }

    void add(const world& w, const world* from) {
        const auto [place, is_new] = seen_.try_emplace(w.key());
        if (is_new) {
            place->second.is_finished = is_finished(w.job.state);
            todo_.push_back(w);
        }
        if (from != nullptr) {
            place->second.from.push_back(from->key());
        }
    }

    // Every step that changes the job passes here.
    void step(const world& before, const world& after, bool helps = true) {
        if (is_finished(before.job.state) &&
            (after.job.state != before.job.state || after.job.fence != before.job.fence)) {
            violated("a finished job changed");
        }
        if (after.job.crashes > after.job.crash_limit || after.job.attempt > after.job.retries + 1) {
            violated("a count exceeded its limit");
        }
        add(after, helps ? &before : nullptr);
    }

    void expand(const world& w) {
        for (std::size_t me = 0; me < 2; ++me) {
            if (w.fence[me] == 0) {
                if (w.job.state == job_state::queued) {
                    begin(w, me);
                }
                continue;
            }
            finish(w, me, outcome_kind::succeeded);
            finish(w, me, outcome_kind::error);
            finish(w, me, outcome_kind::cancelled);
            renew(w, me);
            if (w.hand_backs < most_hand_backs) {
                world after = w;
                rules_.hand_back(after.job, w.fence[me]);
                check_holder(w, after, me, "hand_back");
                after.fence[me] = 0;
                ++after.hand_backs;
                step(w, after);
            }
            world crashed = w;  // the worker vanishes; its lease stays
            crashed.fence[me] = 0;
            step(w, crashed);
        }
        if (w.job.state == job_state::running) {
            world after = w;
            rules_.expire(after.job);
            step(w, after);
        }
        world after = w;
        after.is_cancelled |= rules_.cancel(after.job) == cancel_status::cancelled;
        step(w, after, false);  // nobody must cancel a job for it to end
    }

    void begin(const world& w, std::size_t me) {
        world after = w;
        rules_.take(after.job);
        if (w.is_cancelled) {
            violated("a job ran after its cancellation was acknowledged");
        }
        if (after.job.fence <= w.job.fence) {
            violated("a take did not raise the fence");
        }
        after.fence[me] = after.job.fence;
        step(w, after);
    }

    void finish(const world& w, std::size_t me, outcome_kind kind) {
        world after = w;
        job_outcome outcome;
        outcome.lease.fence = w.fence[me];
        outcome.kind = kind;
        if (rules_.finish(after.job, outcome) != finish_status::stale) {
            check_holder(w, after, me, "finish");
            if (w.accepted != 0 && is_finished(w.job.state)) {
                violated("two outcomes were accepted");
            }
            after.accepted = is_finished(after.job.state) ? w.fence[me] : 0;
        }
        after.fence[me] = 0;
        step(w, after);
    }

    void renew(const world& w, std::size_t me) {
        world after = w;
        const bool is_lost = rules_.renew(after.job, w.fence[me]) == renew_status::lost;
        if (is_lost == (w.fence[me] == w.job.fence && w.job.state == job_state::running)) {
            violated("renew gave the wrong answer");
        }
        if (is_lost) {
            after.fence[me] = 0;
        }
        step(w, after);
    }

    void check_holder(const world& before, const world& after, std::size_t me, const std::string& call) {
        const bool is_current =
            before.job.state == job_state::running && before.job.fence == before.fence[me];
        if (!is_current && after.job.state != before.job.state) {
            violated("an old holder changed the job by " + call);
        }
    }

    // From every state that was reached, a finished state can be reached.
    void check_progress() {
        std::deque<world_key> back;
        for (auto& [key, node] : seen_) {
            if (node.is_finished) {
                node.can_finish = true;
                back.push_back(key);
            }
        }
        while (!back.empty()) {
            const std::vector<world_key> from = seen_.at(back.front()).from;
            back.pop_front();
            for (const world_key& key : from) {
                if (!std::exchange(seen_.at(key).can_finish, true)) {
                    back.push_back(key);
                }
            }
        }
        for (const auto& [key, node] : seen_) {
            if (!node.can_finish) {
                violated("a job is stuck for ever");
            }
        }
    }

    struct visited {
        bool is_finished = false;
        bool can_finish = false;
        std::vector<world_key> from;
    };
    rules rules_;
    std::map<world_key, visited> seen_;
    std::deque<world> todo_;
    found result_;
};

TEST(remote_lease_model, every_order_of_steps_keeps_the_promises) {
    const found result = explorer{{}}.run();
    EXPECT_EQ(result.violation, "");
    EXPECT_GT(result.states, 200U);
    RecordProperty("states", static_cast<int>(result.states));
}

TEST(remote_lease_model, each_planted_fault_is_found) {
    std::vector<rules> faults(7);
    faults[0].finish = [](job_row& job, job_outcome outcome) {
        outcome.lease.fence = job.fence;  // any fence will do
        return protocol::finish(job, outcome, 0);
    };
    faults[1].take = [](job_row& job) {
        protocol::take(job, "", 1);
        --job.fence;  // the fence stays
    };
    faults[2].hand_back = [](job_row& job, std::int64_t) {
        return protocol::hand_back(job, job.fence, 0, 0);
    };
    faults[3].expire = [](job_row& job) {
        ++job.crashes;
        protocol::release(job, 0, 0);  // never dead
    };
    faults[4].cancel = [](job_row& job) {
        protocol::end(job, job_state::cancelled, 0);  // also a finished job
        return cancel_status::cancelled;
    };
    faults[5].renew = [](job_row& job, std::int64_t) {
        return job.state == job_state::running ? renew_status::renewed : renew_status::lost;
    };
    faults[6].expire = [](job_row& job) {
        protocol::expire(job, 0);
        if (job.cancel_requested) {
            protocol::release(job, 0, 0);
            job.state = job_state::delayed;  // and nobody releases it
            job.cancel_requested = false;
            job.crash_limit = 99;
        }
    };
    for (std::size_t i = 0; i < faults.size(); ++i) {
        EXPECT_NE(explorer{faults[i]}.run().violation, "") << "fault " << i;
    }
}

}  // namespace
