// Whether ThreadSanitizer watches the program, for the compiled library (see thread_sanitizer.hpp).
#pragma once

#include "spool/detail/thread_sanitizer.hpp"

#if defined(__linux__) && !defined(SPOOL_LIBRARY_IS_INSTRUMENTED) && !defined(SPOOL_TELLS_THREAD_SANITIZER)
extern "C" {
// Null unless the program was compiled with -fsanitize=thread. The name is ThreadSanitizer's.
[[gnu::weak]] void __tsan_acquire(void* key);  // NOLINT(bugprone-reserved-identifier)
}
#define SPOOL_MAY_BE_WATCHED 1
#endif

namespace spool::inline v1::detail {

/// Costs a load and a branch, so hot paths may call it.
[[nodiscard]] inline bool is_thread_sanitizer_active() noexcept {
#if defined(SPOOL_MAY_BE_WATCHED)
    return &__tsan_acquire != nullptr;
#else
    return false;
#endif
}

}  // namespace spool::inline v1::detail
