// A full fence on every thread of the process that runs, where the system has one.
#pragma once

namespace spool::inline v1::detail {

/// False: there is none.
[[nodiscard]] bool prepare_process_fence() noexcept;
/// After prepare_process_fence() has said yes. False: the system refuses it now; errno says why.
[[nodiscard]] bool process_fence() noexcept;

}  // namespace spool::inline v1::detail
