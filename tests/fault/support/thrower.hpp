// Users' code that throws at its n-th call, counted over all places that may throw.
#pragma once

#include <stdexcept>
#include <string>

#include "fault/support/every_point.hpp"

namespace test {

inline nth_call users_code;

struct planted : std::runtime_error {
    explicit planted(const std::string& where) : std::runtime_error("planted in " + where) {}
};

/// Marks a place in users' code that may throw.
inline void may_throw(const char* where) {
    if (users_code.strikes()) {
        throw planted(where);
    }
}

/// A callable whose copies and moves may throw. It is not nothrow-movable, so a task keeps it on
/// the heap.
template <class F>
struct fragile {
    explicit fragile(F f) : body(std::move(f)) {}
    fragile(const fragile& other) : body(other.body) { may_throw("a copy"); }
    fragile(fragile&& other) : body(other.body) {
        may_throw("a move");
    }  // NOLINT(performance-noexcept-move-constructor)
    fragile& operator=(const fragile&) = delete;
    void operator()() {
        may_throw("a task");
        body();
    }
    F body;
};

}  // namespace test
