# Sanitizers for the library, the tests and the examples: a partly instrumented program reports
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
        # False positives in instrumented code (std::stop_token of GCC 12). The ordinary build keeps
        # this warning on.
        target_compile_options(spool_sanitizers INTERFACE -Wno-maybe-uninitialized)
    endif()
    target_link_options(spool_sanitizers INTERFACE -fsanitize=${sanitizer_names})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
        # GCC defines these macros itself; the tests check them.
        target_compile_definitions(spool_sanitizers INTERFACE
            $<$<STREQUAL:${SPOOL_SANITIZE},thread>:__SANITIZE_THREAD__>
            $<$<NOT:$<STREQUAL:${SPOOL_SANITIZE},thread>>:__SANITIZE_ADDRESS__>)
        # Links the shared runtime, as GCC does, so that a test may replace a function that the
        # runtime also replaces.
        execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -print-file-name=libclang_rt.asan-${CMAKE_SYSTEM_PROCESSOR}.so
            OUTPUT_VARIABLE runtime OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
        cmake_path(GET runtime PARENT_PATH runtime_dir)
        target_link_options(spool_sanitizers INTERFACE -shared-libsan "-Wl,-rpath,${runtime_dir}")
    endif()
    if("undefined" IN_LIST SPOOL_SANITIZE)
        # By default UBSan prints a message and the test passes; this makes the test fail.
        target_compile_options(spool_sanitizers INTERFACE -fno-sanitize-recover=all)
    endif()
endif()
