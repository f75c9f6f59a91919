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

/// In order; each counts on the one before.
[[nodiscard]] std::span<const act> acts();

}  // namespace tour
