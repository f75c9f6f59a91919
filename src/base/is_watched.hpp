// is_watched: whether ThreadSanitizer looks on, for the compiled library (see thread_sanitizer.hpp).
#pragma once

#include "spool/base/thread_sanitizer.hpp"

#if defined(__linux__) && !defined(SPOOL_LIBRARY_IS_INSTRUMENTED) && !defined(SPOOL_TELLS_THREAD_SANITIZER)
extern "C" {
// Null unless the program was compiled with -fsanitize=thread.
[[gnu::weak]] void __tsan_acquire(void* key);  // NOLINT(bugprone-reserved-identifier): ThreadSanitizer's name
}
#define SPOOL_MAY_BE_WATCHED 1
#endif

namespace spool::inline v1::detail {

/// A load and a branch: for calls on paths that tasks take often.
[[nodiscard]] inline bool is_watched() noexcept {
#if defined(SPOOL_MAY_BE_WATCHED)
    return &__tsan_acquire != nullptr;
#else
    return false;
#endif
}

}  // namespace spool::inline v1::detail
