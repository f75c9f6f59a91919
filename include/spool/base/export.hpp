// SPOOL_API marks what the compiled library offers. The library is built with hidden visibility, so that a
// shared build exports exactly these names and nothing of its inside.
#pragma once

#if defined(__GNUC__) || defined(__clang__)
#define SPOOL_API __attribute__((visibility("default")))
#else
#define SPOOL_API
#endif
