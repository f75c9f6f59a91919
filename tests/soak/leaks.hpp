// What a process must not accumulate from round to round: threads, descriptors, memory. Also, for
// the plants, leaks on purpose.
#pragma once

#include <cstddef>

namespace soak {

[[nodiscard]] std::size_t thread_count();
[[nodiscard]] std::size_t descriptor_count();
/// The resident memory of the process in bytes. Under a sanitizer, whose own records grow, the
/// allocated bytes instead.
[[nodiscard]] std::size_t bytes_in_use();

/// Starts a thread that lives until mend_leaks().
void leak_thread();
void leak_descriptor();
void mend_leaks();

}  // namespace soak
