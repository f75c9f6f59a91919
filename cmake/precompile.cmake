# Precompiles headers of the library and the soak test, which halves the compile time of the
# library. ./test, the package tests and the presets of the sanitizers do this (SPOOL_JOIN_TESTS).
# Any other build compiles each source without it, which shows that each includes all that it uses.

target_precompile_headers(spool PRIVATE
    <algorithm> <atomic> <chrono> <concepts> <functional> <memory> <mutex> <optional> <ranges> <stdexcept> <stop_token>
    <string> <thread> <utility> <vector>)
if(TARGET spool_soak_rounds)
    target_precompile_headers(spool_soak_rounds PRIVATE <spool/spool.hpp>)
endif()
