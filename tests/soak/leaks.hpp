// What a process must not gain from round to round: threads, descriptors, memory. And, for the plants, leaks on purpose.
#pragma once

#include <cstddef>

namespace soak {

[[nodiscard]] std::size_t thread_count();
[[nodiscard]] std::size_t descriptor_count();
/// What the process has in memory, in bytes; under a sanitizer, which keeps records of its own that grow, what is allocated.
[[nodiscard]] std::size_t bytes_in_use();

/// Starts a thread that stays until mend_leaks().
void leak_thread();
void leak_descriptor();
void mend_leaks();

}  // namespace soak
