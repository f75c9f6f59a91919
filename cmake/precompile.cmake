# Precompiles headers of the library, the tools, the examples and the soak test, which saves a third
# of their compile time. ./test and the presets of the sanitizers do this (SPOOL_JOIN_TESTS). Any
# other build compiles each source without it, which shows that each includes all that it uses.

set(standard_headers
    <algorithm> <atomic> <chrono> <concepts> <functional> <memory> <mutex> <optional> <ranges> <stdexcept> <stop_token>
    <string> <thread> <utility> <vector>)
target_precompile_headers(spool PRIVATE ${standard_headers})
if(TARGET spool_soak_rounds)
    target_precompile_headers(spool_soak_rounds PRIVATE <spool/spool.hpp>)
endif()
if(TARGET spool_lab)
    target_precompile_headers(spool_lab PRIVATE ${standard_headers} <fmt/format.h> <nlohmann/json.hpp>)
    target_precompile_headers(spool-program PRIVATE ${standard_headers} <fmt/format.h> <nlohmann/json.hpp> <CLI/CLI.hpp>)
endif()
if(TARGET spool-tour)
    target_precompile_headers(spool-tour PRIVATE <spool/spool.hpp>)
endif()
if(TARGET example_010_hello)
    get_property(examples DIRECTORY "${PROJECT_SOURCE_DIR}/examples" PROPERTY BUILDSYSTEM_TARGETS)
    target_precompile_headers(example_010_hello PRIVATE <spool/spool.hpp>)
    list(REMOVE_ITEM examples example_010_hello)
    foreach(example IN LISTS examples)
        target_precompile_headers(${example} REUSE_FROM example_010_hello)
    endforeach()
endif()
