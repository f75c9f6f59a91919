// What the model tests share: bounds, the printed report, and expectations.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "model/explorer/explorer.hpp"

namespace model {

/// True if SPOOL_MODEL_LONG=1 asks for the long form.
[[nodiscard]] inline bool long_form() {
    const char* const wanted = std::getenv("SPOOL_MODEL_LONG");
    return wanted != nullptr && *wanted != '\0' && *wanted != '0';
}

/// Bounds the preemptions of the short form; the long form has no bound.
[[nodiscard]] inline bounds preemptions(unsigned most) {
    return {.preemptions = long_form() ? bounds::none : most, .executions = 2'000'000'000};
}

inline void print(const result& r) {
    const std::string bound = r.bound.preemptions == bounds::none
                                  ? "every schedule"
                                  : "up to " + std::to_string(r.bound.preemptions) + " preemptions";
    std::printf("[  MODEL   ] %s: %llu states, %llu executions, at most %u steps, %.2f s\n", bound.c_str(),
                static_cast<unsigned long long>(r.states), static_cast<unsigned long long>(r.executions),
                r.longest, r.seconds);
    testing::Test::RecordProperty("states", std::to_string(r.states));
    testing::Test::RecordProperty("executions", std::to_string(r.executions));
}

/// The last steps before the fault.
[[nodiscard]] inline std::string end_of_trace(const result& r) {
    constexpr std::size_t enough = 6000;
    return r.trace.size() < enough ? r.trace : "...\n" + r.trace.substr(r.trace.size() - enough);
}

/// Expects that the exploration is complete and finds no fault.
template <class Model>
void expect_sound(bounds bound = {}) {
    const result r = explore<Model>(bound);
    print(r);
    EXPECT_EQ(r.fault, "") << end_of_trace(r);
    EXPECT_TRUE(r.complete) << "not all was explored";
}

/// Expects that the exploration finds the planted fault, and that the report contains `symptom`.
template <class Model>
void expect_found(const plant& fault, const std::string& symptom, bounds bound = {}) {
    const result r = explore<Model>(bound, fault);
    print(r);
    EXPECT_NE(r.harmed, 0U) << "no operation met the plant: is the line still there?";
    EXPECT_NE(r.fault, "") << "the planted fault was not found";
    EXPECT_NE(r.fault.find(symptom), std::string::npos) << r.fault << "\n" << end_of_trace(r);
}

}  // namespace model
