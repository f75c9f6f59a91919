// Shorthands for tests that talk to a broker without an executor or a worker.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "spool/remote/broker.hpp"
#include "support/eventually.hpp"

namespace test {

using spool::remote::broker;
using spool::remote::job_id;
using spool::remote::leased_job;
using spool::remote::new_job;

[[nodiscard]] inline new_job make_job(const std::string& function = "f", const std::string& queue = "q") {
    new_job job;
    job.id = job_id::random();
    job.queue = queue;
    job.function = function;
    job.signature = 0xfedcba9876543210U;  // also tests that the sign bit survives
    job.args = {1, 0, 255};
    return job;
}

inline spool::remote::put_result put(broker& b, const new_job& job,
                                     const spool::remote::put_limits& limits = {}) {
    return b.put({&job, 1}, limits).front();
}

[[nodiscard]] inline spool::remote::take_request request(std::size_t n = 1,
                                                         spool::remote::duration lease = std::chrono::minutes{
                                                             1}) {
    return {"w", {{"q", n}}, {"f", "g"}, n, lease};
}

[[nodiscard]] inline std::vector<leased_job> take(broker& b, std::size_t n = 1) {
    return b.take(request(n)).jobs;
}

/// Takes one job with a lease that is over at once.
[[nodiscard]] inline leased_job take_briefly(broker& b) {
    std::vector<leased_job> jobs;
    if (!eventually([&] {
            jobs = b.take(request(1, std::chrono::microseconds{1})).jobs;
            return !jobs.empty();
        })) {
        throw std::runtime_error("no job became ready");
    }
    return jobs.front();
}

[[nodiscard]] inline spool::remote::job_outcome outcome(const leased_job& job,
                                                        spool::remote::outcome_kind kind) {
    spool::remote::job_outcome o;
    o.lease = {job.id, job.fence};
    o.kind = kind;
    o.result = {42};
    o.error_type = kind == spool::remote::outcome_kind::error ? "std::runtime_error" : "";
    return o;
}

inline spool::remote::finish_status finish(
    broker& b, const leased_job& job,
    spool::remote::outcome_kind kind = spool::remote::outcome_kind::succeeded) {
    const auto o = outcome(job, kind);
    return b.finish({&o, 1}).front();
}

inline spool::remote::renew_status renew(broker& b, const leased_job& job) {
    const spool::remote::lease l{job.id, job.fence};
    return b.renew({&l, 1}, std::chrono::minutes{1}).front();
}

inline std::size_t hand_back(broker& b, const leased_job& job) {
    const spool::remote::lease l{job.id, job.fence};
    return b.hand_back({&l, 1}, std::chrono::seconds{0});
}

[[nodiscard]] inline spool::remote::job_record record(broker& b, const job_id& id) {
    const auto found = b.look({.ids = {id}});
    if (found.size() != 1) {
        throw std::runtime_error("the broker does not know job " + id.text());
    }
    return found.front();
}

}  // namespace test
