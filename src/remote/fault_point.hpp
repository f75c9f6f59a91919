// fault_point: lets a test make each call of an engine fail in turn. Without a hook it costs a
// load.
#pragma once

#include <atomic>

namespace spool::inline v1::remote::detail {

using fault_hook = bool (*)(const char* call) noexcept;
inline std::atomic<fault_hook> fault{nullptr};

/// Whether the engine's call named here must fail now.
inline bool fails_here(const char* call) noexcept {
    // acquire: pairs with the test's store, after which its counters are ready
    const fault_hook hook = fault.load(std::memory_order_acquire);
    return hook != nullptr && hook(call);
}

}  // namespace spool::inline v1::remote::detail
