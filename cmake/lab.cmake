# Sets SPOOL_BUILD_LAB if the packages of spool lab are present: CLI11, fmt and nlohmann-json
# (Debian: libcli11-dev libfmt-dev nlohmann-json3-dev). Without them spool lab is not built.

set(SPOOL_BUILD_LAB OFF)
if(SPOOL_BUILD_TOOLS)
    find_package(CLI11 QUIET)
    find_package(fmt QUIET)
    find_package(nlohmann_json QUIET)
    if(CLI11_FOUND AND fmt_FOUND AND nlohmann_json_FOUND)
        set(SPOOL_BUILD_LAB ON)
    else()
        message(STATUS "spool lab is left out: it needs CLI11, fmt and nlohmann-json")
    endif()
endif()
