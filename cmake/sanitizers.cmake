# Sanitizers for the library, the tests and the examples alike: a half-instrumented program reports
# false races and misses real ones.

add_library(spool_sanitizers INTERFACE)
if(SPOOL_SANITIZE)
    if("thread" IN_LIST SPOOL_SANITIZE AND "address" IN_LIST SPOOL_SANITIZE)
        message(FATAL_ERROR "SPOOL_SANITIZE: \"thread\" and \"address\" exclude each other")
    endif()
    list(JOIN SPOOL_SANITIZE "," sanitizer_names)
    target_compile_options(spool_sanitizers INTERFACE
        -fsanitize=${sanitizer_names}
        -fno-omit-frame-pointer)  # complete stacks in reports
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # Instrumented code confuses it (std::stop_token of GCC 12); the ordinary build has this warning on.
        target_compile_options(spool_sanitizers INTERFACE -Wno-maybe-uninitialized)
    endif()
    target_link_options(spool_sanitizers INTERFACE -fsanitize=${sanitizer_names})
    if("undefined" IN_LIST SPOOL_SANITIZE)
        # By default undefined behaviour is printed and the test passes; here it ends the test.
        target_compile_options(spool_sanitizers INTERFACE -fno-sanitize-recover=all)
    endif()
endif()
