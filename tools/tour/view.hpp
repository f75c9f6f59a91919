// What the audience sees: bars that move on a terminal, plain lines elsewhere.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <spool/spool.hpp>

namespace tour {

/// One act: what is shown, and why the pool does that.
struct act_text {
    const char* title;
    const char* why;
};

/// The pool at one moment of an act.
struct frame {
    std::size_t act = 0;  ///< 1 for the first
    std::size_t acts = 0;
    act_text text{};
    std::chrono::milliseconds elapsed{0};
    std::uint64_t accepted = 0;
    spool::pool_snapshot pool;
};

class view {
public:
    view() = default;
    view(const view&) = delete;
    view& operator=(const view&) = delete;
    virtual ~view() = default;

    virtual void begin_act(const frame& now) = 0;
    virtual void show(const frame& now) = 0;  ///< about every 50 ms
    virtual void end_act(const frame& now) = 0;
};

/// Bars, redrawn in place with escape codes; null if standard output is no terminal, or one too small or too plain.
std::unique_ptr<view> make_live_view();

/// A line for each act, and a sample at most every `pause` and at the end of each act. No escape codes.
std::unique_ptr<view> make_plain_view(std::chrono::milliseconds pause);

}  // namespace tour
