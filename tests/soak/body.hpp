// body: the callable of every task, in several shapes: small or too large for a task, and with or
// without a stop token.
#pragma once

#include <array>
#include <cstddef>
#include <stop_token>

#include "hostile.hpp"
#include "world.hpp"

namespace soak {

/// Counts the beginning and the end of the call, and does what the entry's script says.
int call(world& in, entry& mine);

template <bool Stoppable, std::size_t Pad>
class body {
public:
    body(world& in, entry& e) : words_(in, e), seen_(e) {}

    int operator()() requires(!Stoppable) { return call(words_.in(), seen_.mine()); }
    int operator()(const std::stop_token& stop) requires Stoppable {
        static_cast<void>(stop.stop_requested());
        return call(words_.in(), seen_.mine());
    }
    [[nodiscard]] int priority() const { return seen_.mine().priority; }
    [[nodiscard]] spool::due_time due() const { return seen_.mine().due; }

private:
    last_words words_;  // destroyed last
    witness seen_;
    [[no_unique_address]] std::array<std::byte, Pad> pad_{};
};

static_assert(sizeof(body<false, 0>) <= 40, "the small shapes must fit into a task");

/// Passes a body of one of the shapes to `f`, and returns what `f` returns.
template <class F>
decltype(auto) with_body(world& in, entry& e, F&& f) {
    switch (e.script / 7 % 4) {
        case 0: return f(body<true, 0>{in, e});
        case 1: return f(body<false, 64>{in, e});
        case 2: return f(body<true, 64>{in, e});
        default: return f(body<false, 0>{in, e});
    }
}

}  // namespace soak
