// Accounts for every task: it was accepted and ran, or was refused and destroyed.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <system_error>
#include <vector>

#include <gtest/gtest.h>

#include <spool/spool.hpp>

#include "support/tracked.hpp"
#include "unit/pool/behaviour/pool_helpers.hpp"

namespace test {

class account {
public:
    /// A body that counts its run and its destruction.
    [[nodiscard]] auto body() {
        return [this, counted = tracked{alive_}] { ++ran_; };
    }
    /// A body that first waits for the gate.
    [[nodiscard]] auto body_behind(gate& g) {
        return [this, &g, counted = tracked{alive_}] {
            g.wait();
            ++ran_;
        };
    }

    /// Calls `submit()`, which hands over `how_many` bodies. If it returns, all count as accepted.
    /// If it throws, none does, and the result is false.
    template <class F>
    bool hand_over(F submit, int how_many = 1) {
        try {
            submit();
            accepted_ += how_many;
            return true;
        } catch (const std::exception& e) {
            refusals_.push_back(e.what());
        }
        return false;
    }
    void accept(int how_many) { accepted_ += how_many; }

    [[nodiscard]] int ran() const { return ran_; }
    [[nodiscard]] int accepted() const { return accepted_; }
    [[nodiscard]] const std::vector<std::string>& refusals() const { return refusals_; }
    /// Call it when no task is left.
    void expect_balance() const {
        EXPECT_EQ(ran_, accepted_) << "lost, or run though refused";
        EXPECT_EQ(alive_, 0) << "a callable is left";
    }
    /// Expects that the text of each refusal contains one of `causes`.
    void expect_causes(const std::vector<std::string>& causes) const {
        for (const std::string& text : refusals_) {
            bool named = false;
            for (const std::string& cause : causes) {
                named = named || contains(text, cause);
            }
            EXPECT_TRUE(named) << "the error does not name its cause: " << text;
        }
    }

private:
    std::atomic<int> ran_{0};
    std::atomic<int> alive_{0};
    int accepted_ = 0;
    std::vector<std::string> refusals_;
};

}  // namespace test
