// Fixture for tests of event_count over both ways to park.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#include "spool/sync/event_count.hpp"

namespace test {

#if defined(__linux__)
using parkings = testing::Types<spool::futex_parking, spool::portable_parking>;
#else
using parkings = testing::Types<spool::portable_parking>;
#endif

struct parking_names {
    template <class Parking>
    static std::string GetName(int) {
        return std::is_same_v<Parking, spool::portable_parking> ? "portable" : "futex";
    }
};

template <class Parking>
class event_count_test : public testing::Test {
protected:
    using event_count = spool::basic_event_count<Parking>;

    /// The number of wake-ups given so far, which is the value of a new key.
    std::uint32_t wakes() {
        const std::uint32_t count = events_.prepare_wait();
        events_.cancel_wait();
        return count;
    }

    event_count events_;
};

}  // namespace test
