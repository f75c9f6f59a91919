// weights: how many jobs to ask each queue for, in proportion to its weight.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "spool/remote/worker.hpp"

namespace spool::inline v1::remote::detail {

/// Smooth weighted round robin over starts. A queue that had nothing gives its turns away; it does
/// not save them up.
class weights {
public:
    explicit weights(std::vector<queue_weight> queues) : queues_(std::move(queues)), credit_(queues_.size()) {
        for (const queue_weight& q : queues_) {
            total_ += static_cast<long>(q.weight);
        }
    }

    /// Shares for the next `n` starts, the queue with most credit first.
    [[nodiscard]] std::vector<queue_share> share(std::size_t n) {
        std::vector<queue_share> shares;
        for (const queue_weight& q : queues_) {
            shares.push_back({q.queue, 0});
        }
        for (std::size_t i = 0; i < n; ++i) {
            std::size_t best = 0;
            for (std::size_t q = 0; q < queues_.size(); ++q) {
                credit_[q] += static_cast<long>(queues_[q].weight);
                best = credit_[q] > credit_[best] ? q : best;
            }
            credit_[best] -= total_;
            ++shares[best].quota;
        }
        return shares;
    }

    /// Returns the credit of starts that the broker could not serve.
    void unused(const std::vector<queue_share>& shares, const std::map<std::string, std::size_t>& taken) {
        bool short_of_work = false;
        for (const queue_share& share : shares) {
            const auto found = taken.find(share.queue);
            short_of_work |= (found == taken.end() ? 0 : found->second) < share.quota;
        }
        if (short_of_work) {
            credit_.assign(credit_.size(), 0);  // nothing waits somewhere: nothing to be fair about
        }
    }

private:
    std::vector<queue_weight> queues_;
    std::vector<long> credit_;
    long total_ = 0;
};

}  // namespace spool::inline v1::remote::detail
