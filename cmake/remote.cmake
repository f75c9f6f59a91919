# Sets SPOOL_HAS_REMOTE if the packages of spool::remote are present: libpq, SQLite and nlohmann-json
# (Debian: libpq-dev libsqlite3-dev nlohmann-json3-dev). Without them the component is not built.

set(SPOOL_HAS_REMOTE OFF)
if(SPOOL_BUILD_REMOTE AND UNIX)
    find_package(nlohmann_json QUIET)
    find_package(SQLite3 QUIET)
    find_package(PostgreSQL QUIET)
    if(nlohmann_json_FOUND AND SQLite3_FOUND AND PostgreSQL_FOUND)
        set(SPOOL_HAS_REMOTE ON)
    else()
        message(STATUS "spool::remote is left out: it needs libpq, SQLite and nlohmann-json")
    endif()
endif()
