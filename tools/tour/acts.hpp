// The acts of the show: a pool's life from its first worker to its end.
#pragma once

#include <span>

#include "stage.hpp"
#include "view.hpp"

namespace tour {

struct act {
    act_text text;
    void (*play)(stage&);
};

/// Returns the acts in order. Each relies on the pool's state after the one before.
[[nodiscard]] std::span<const act> acts();

}  // namespace tour
