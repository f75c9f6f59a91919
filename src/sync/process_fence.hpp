// process_fence: a full fence on every running thread of the process, where the system has one.
#pragma once

namespace spool::inline v1::detail {

/// Returns false if the system has no such fence.
[[nodiscard]] bool try_register_process_fence() noexcept;
/// Precondition: try_register_process_fence() returned true. Returns false if the system refuses
/// the fence now; errno says why.
[[nodiscard]] bool try_process_fence() noexcept;

}  // namespace spool::inline v1::detail
