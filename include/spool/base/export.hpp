// What every part of Spool needs: a check of the compiler's language mode, and SPOOL_API.
//
// SPOOL_API marks the names that the compiled library exports. The library is built with hidden
// visibility, so a shared build exports these names and no internals.
#pragma once

#if !defined(__cplusplus) || __cplusplus < 202002L
#error "Spool needs C++20: compile with -std=c++20 or newer (CMake: link spool::spool, which asks for it)"
#endif
#if !defined(__cpp_exceptions)
#error "Spool needs exceptions: do not compile with -fno-exceptions"
#endif
#if !defined(__cpp_rtti)
#error "Spool needs run-time type information: do not compile with -fno-rtti"
#endif

#if defined(__GNUC__) || defined(__clang__)
#define SPOOL_API __attribute__((visibility("default")))
#else
#define SPOOL_API
#endif
