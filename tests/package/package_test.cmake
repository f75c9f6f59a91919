# One step of the package tests, run by cmake -P. CMakeLists.txt beside this file passes the variables.

set(prefix "${WORK_DIR}/prefix")
set(consumer_source "${CMAKE_CURRENT_LIST_DIR}/consumer")
set(optimisation -O0)
if(SHARED)
    set(optimisation -O2)
endif()

function(run)
    execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# configure_and_build(<source> <build> <cmake argument>...)
# Release: debug information names the directories that it was built in. Not optimised: how it is packaged is what is tested. But
# for the shared library, which a program under ThreadSanitizer is linked with: that one is as users have it.
function(configure_and_build source build)
    run("${CMAKE_COMMAND}" -S "${source}" -B "${build}" -G "${GENERATOR}" -D CMAKE_BUILD_TYPE=Release
        -D CMAKE_CXX_FLAGS_RELEASE=${optimisation}
        -D "CMAKE_CXX_COMPILER=${COMPILER}" -D CMAKE_EXPORT_COMPILE_COMMANDS=ON ${ARGN})
    run("${CMAKE_COMMAND}" --build "${build}" --parallel 2)
endfunction()

# Fails if the consumer's own file was compiled with a warning flag: it asked for none.
function(expect_no_inherited_warnings build)
    file(READ "${build}/compile_commands.json" commands)
    string(JSON count LENGTH "${commands}")
    math(EXPR last "${count} - 1")
    foreach(i RANGE ${last})
        string(JSON file GET "${commands}" ${i} file)
        string(JSON command GET "${commands}" ${i} command)
        if(file STREQUAL "${consumer_source}/main.cpp")
            if(command MATCHES " -W| -fsanitize")
                message(FATAL_ERROR "the consumer inherits our flags: ${command}")
            endif()
            return()
        endif()
    endforeach()
    message(FATAL_ERROR "main.cpp is not in ${build}/compile_commands.json")
endfunction()

function(step_install)
    file(REMOVE_RECURSE "${prefix}")
    configure_and_build("${SOURCE_DIR}" "${WORK_DIR}/library" -D BUILD_SHARED_LIBS=${SHARED}
        -D SPOOL_BUILD_TESTS=OFF -D SPOOL_BUILD_EXAMPLES=OFF -D SPOOL_BUILD_TOOLS=OFF -D "CMAKE_INSTALL_PREFIX=${prefix}")
    run("${CMAKE_COMMAND}" --install "${WORK_DIR}/library")
endfunction()

function(step_find_package)
    set(build "${WORK_DIR}/find_package")
    file(REMOVE_RECURSE "${build}")
    configure_and_build("${consumer_source}" "${build}"
        -D "CMAKE_PREFIX_PATH=${prefix}" -D SPOOL_WANTED_VERSION=${VERSION})
    expect_no_inherited_warnings("${build}")
    run("${build}/consumer")
    run("${build}/consumer_live")
endfunction()

function(step_add_subdirectory)
    set(build "${WORK_DIR}/add_subdirectory")
    file(REMOVE "${build}/CMakeCache.txt")  # defaults must come from this run; objects may be reused
    configure_and_build("${consumer_source}" "${build}" -D "SPOOL_SOURCE_DIR=${SOURCE_DIR}")
    expect_no_inherited_warnings("${build}")
    run("${build}/consumer")
endfunction()

# compile_installed(<program> <source> <flag>...): with what pkg-config says. Afterwards the program finds a shared library.
function(compile_installed program source)
    file(GLOB_RECURSE pc_file "${prefix}/*/spool.pc")
    cmake_path(GET pc_file PARENT_PATH pc_dir)
    set(ENV{PKG_CONFIG_PATH} "${pc_dir}")
    execute_process(COMMAND "${PKG_CONFIG}" --cflags --libs spool
        OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    separate_arguments(flags UNIX_COMMAND "${flags}")
    run("${COMPILER}" -std=c++20 ${ARGN} "${source}" -o "${program}" ${flags})
    cmake_path(GET pc_dir PARENT_PATH library_dir)
    set(ENV{LD_LIBRARY_PATH} "${library_dir}")
endfunction()

function(step_pkg_config)
    compile_installed("${WORK_DIR}/pkg_config" "${consumer_source}/main.cpp")
    run("${WORK_DIR}/pkg_config")
endfunction()

# A user's programs with -fsanitize=thread, against the library that was installed without it.
function(step_thread_sanitizer)
    set(sanitized "${CMAKE_CURRENT_LIST_DIR}/sanitized")
    set(ENV{TSAN_OPTIONS} "exitcode=66")
    foreach(source "${SOURCE_DIR}/examples/010_hello.cpp" "${sanitized}/threads.cpp" "${sanitized}/racy.cpp")
        cmake_path(GET source STEM name)
        set(program "${WORK_DIR}/sanitized_${name}")
        compile_installed("${program}" "${source}" -g -O1 -fsanitize=thread)
        # Without address randomisation, which ThreadSanitizer of some compilers cannot cope with.
        execute_process(COMMAND setarch -R "${program}" RESULT_VARIABLE result OUTPUT_VARIABLE out ERROR_VARIABLE out)
        if(name STREQUAL "racy" AND NOT result EQUAL 66)
            message(FATAL_ERROR "a race of the user's own goes unnoticed (exit code ${result}):\n${out}")
        elseif(NOT name STREQUAL "racy" AND NOT result EQUAL 0)
            message(FATAL_ERROR "${name} ends with ${result}:\n${out}")
        endif()
    endforeach()
endfunction()

# No installed file may name the directories of the machine that built it.
function(step_relocatable)
    execute_process(COMMAND grep -rlF -e "${SOURCE_DIR}/" -e "${BINARY_DIR}/" "${prefix}"
        RESULT_VARIABLE result OUTPUT_VARIABLE files)
    if(NOT result EQUAL 1)  # 1: searched everything, found nothing
        message(FATAL_ERROR "installed files name the source or build directory:\n${files}")
    endif()
endfunction()

cmake_language(CALL step_${STEP})
