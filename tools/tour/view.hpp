// Shows the pool: as moving bars on a terminal, as plain lines elsewhere.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <spool/spool.hpp>

namespace tour {

/// The text of an act: what it shows, and why the pool behaves so.
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

/// Draws bars, redrawn in place with escape codes. Returns null if standard output is no terminal,
/// or one that is too small or cannot redraw.
std::unique_ptr<view> make_live_view();

/// Prints one line per act, a sample at most every `pause`, and one at the end of an act if the
/// pool has changed. No escape codes.
std::unique_ptr<view> make_plain_view(std::chrono::milliseconds pause);

}  // namespace tour
