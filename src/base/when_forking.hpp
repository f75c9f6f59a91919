// Telling the parts of the library that the process is about to be forked, and that it was.
#pragma once

namespace spool::inline v1 {

/// From now on `before` is called in every fork(), on the thread that forks, then `in_parent` there or `in_child` in the new process, whose only
/// thread it is. They run no user code, and take no time. To be called while the program is loaded: so no fork can fall in between. False
/// where there is no fork().
bool when_forking(void (*before)(), void (*in_parent)(), void (*in_child)()) noexcept;

/// The number of this process, for messages.
[[nodiscard]] long process_id() noexcept;

}  // namespace spool::inline v1
