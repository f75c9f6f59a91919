# Warnings for our own code. Every target links it PRIVATE, so users never inherit a flag.

add_library(spool_warnings INTERFACE)
target_compile_options(spool_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow
    # Only Clang understands the lock annotations.
    $<$<CXX_COMPILER_ID:Clang,AppleClang>:-Wthread-safety>
    # std::stable_sort of libstdc++ 12 calls a deprecated function, and Clang warns its callers.
    $<$<CXX_COMPILER_ID:Clang,AppleClang>:-Wno-deprecated-declarations>
    $<$<BOOL:${SPOOL_WERROR}>:-Werror>)
