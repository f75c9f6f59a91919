# Precompiles headers of the library and the soak test, which halves the compile time of the
# library. ./test and the package tests do this (SPOOL_JOIN_TESTS). The builds with sanitizers do
# not: GCC 12 then warns of overruns in std::string that do not exist. Any other build compiles each
# source without it, which shows that each includes all that it uses.

target_precompile_headers(spool PRIVATE
    <algorithm> <atomic> <chrono> <concepts> <functional> <memory> <mutex> <optional> <ranges> <stdexcept> <stop_token>
    <string> <thread> <utility> <vector>)
if(TARGET spool_soak_rounds)
    target_precompile_headers(spool_soak_rounds PRIVATE <spool/spool.hpp>)
endif()
