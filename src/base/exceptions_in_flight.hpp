// exceptions_in_flight(): std::uncaught_exceptions() for the fast path.
#pragma once

#include <exception>

#if __has_include(<cxxabi.h>)
#define SPOOL_HAS_ITANIUM_ABI 1
#endif

namespace spool::inline v1::detail {

#ifdef SPOOL_HAS_ITANIUM_ABI

// The C++ runtime keeps one of these per thread, at the same address for the thread's whole life.
// The Itanium C++ ABI defines its first two members (__cxa_eh_globals).
struct exception_globals {
    void* caught;
    unsigned int uncaught;
};
extern "C" const exception_globals* spool_exception_globals() noexcept __asm__("__cxa_get_globals");

inline constinit thread_local const exception_globals* exceptions_of_this_thread = nullptr;

/// How many exceptions the calling thread has thrown and not yet caught.
/// std::uncaught_exceptions() costs two calls through the PLT and a TLS lookup, about 30
/// instructions. This function reads the same word through a pointer that it caches per thread.
[[nodiscard]] inline int exceptions_in_flight() noexcept {
    if (exceptions_of_this_thread == nullptr) [[unlikely]] {
        exceptions_of_this_thread = spool_exception_globals();
    }
    return static_cast<int>(exceptions_of_this_thread->uncaught);
}

#else

/// How many exceptions the calling thread has thrown and not yet caught.
[[nodiscard]] inline int exceptions_in_flight() noexcept {
    return std::uncaught_exceptions();
}

#endif

}  // namespace spool::inline v1::detail
