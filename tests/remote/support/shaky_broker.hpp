// shaky_broker: a broker that can be away, or lose answers.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "spool/remote/broker.hpp"
#include "spool/remote/error.hpp"

namespace test {

class shaky_broker final : public spool::remote::broker {
public:
    explicit shaky_broker(std::shared_ptr<broker> real) : real_(std::move(real)) {}

    void go_away() { is_away_ = true; }
    void come_back() { is_away_ = false; }
    void lose_next_answer() { loses_answer_ = true; }
    [[nodiscard]] int refused() const { return refused_; }

    std::string label() const override { return "shaky broker"; }
    std::vector<spool::remote::put_result> put(std::span<const spool::remote::new_job> jobs,
                                               const spool::remote::put_limits& limits) override {
        check();
        auto results = real_->put(jobs, limits);
        if (loses_answer_.exchange(false)) {
            fail();
        }
        return results;
    }
    spool::remote::taken_jobs take(const spool::remote::take_request& r) override { return there().take(r); }
    std::vector<spool::remote::renew_status> renew(std::span<const spool::remote::lease> l,
                                                   spool::remote::duration d) override {
        return there().renew(l, d);
    }
    std::vector<spool::remote::finish_status> finish(std::span<const spool::remote::job_outcome> o) override {
        return there().finish(o);
    }
    std::size_t hand_back(std::span<const spool::remote::lease> l, spool::remote::duration d) override {
        return there().hand_back(l, d);
    }
    spool::remote::cancel_status cancel(const spool::remote::job_id& id) override {
        return there().cancel(id);
    }
    bool retry(const spool::remote::job_id& id) override { return there().retry(id); }
    std::vector<spool::remote::job_record> look(const spool::remote::look_filter& f) override {
        return there().look(f);
    }
    std::vector<spool::remote::job_record> outcomes(std::span<const spool::remote::job_id> ids) override {
        return there().outcomes(ids);
    }
    std::vector<spool::remote::queue_record> queues() override { return there().queues(); }
    void configure(const std::string& q, const spool::remote::queue_settings& s) override {
        there().configure(q, s);
    }
    void enlist(const spool::remote::worker_record& w) override { there().enlist(w); }
    void retire(const std::string& w) override { there().retire(w); }
    std::vector<spool::remote::worker_record> workers() override { return there().workers(); }
    std::vector<std::string> unserved(std::span<const std::string> q) override { return there().unserved(q); }
    std::size_t tidy(std::size_t limit) override { return there().tidy(limit); }
    spool::remote::server_time now() override { return there().now(); }
    std::unique_ptr<spool::remote::subscription> subscribe(spool::remote::subscription_topics t) override {
        return there().subscribe(std::move(t));
    }

private:
    [[noreturn]] static void fail() {
        throw spool::remote::broker_error(spool::remote::broker_failure::unavailable,
                                          "the shaky broker is away");
    }
    void check() {
        if (is_away_) {
            ++refused_;
            fail();
        }
    }
    broker& there() {
        check();
        return *real_;
    }

    std::shared_ptr<broker> real_;
    std::atomic<bool> is_away_{false};
    std::atomic<bool> loses_answer_{false};
    std::atomic<int> refused_{0};
};

}  // namespace test
