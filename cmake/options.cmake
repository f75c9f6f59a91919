# All options of this project. A project that adds Spool with add_subdirectory() gets only the
# library.

option(BUILD_SHARED_LIBS "Build a shared library instead of a static one" OFF)
option(SPOOL_BUILD_LIVE "Build the component live: a monitor of all pools" ${PROJECT_IS_TOP_LEVEL})
option(SPOOL_BUILD_TESTS "Build the tests and register the checks" ${PROJECT_IS_TOP_LEVEL})
option(SPOOL_JOIN_TESTS "Compile the tests several files at a time, which is much faster" OFF)
option(SPOOL_BUILD_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL})
option(SPOOL_BUILD_TOOLS "Build spool-tour, and spool lab if its packages are there" ${PROJECT_IS_TOP_LEVEL})
option(SPOOL_BUILD_BENCHMARKS "Build the benchmarks (needs the packages that scripts/bench installs)" OFF)
option(SPOOL_INSTALL "Create the install rules" ${PROJECT_IS_TOP_LEVEL})

# Off by default: a new warning of a newer compiler must not break a user's build. The developer
# presets turn it on.
option(SPOOL_WERROR "Treat warnings as errors" OFF)

# For tests only, never in a product: pauses threads at the steps of the lock-free protocols (see
# detail/pause_point.hpp).
option(SPOOL_PAUSE_POINTS "Compile in the pause points" OFF)

set(SPOOL_SANITIZE "" CACHE STRING "Sanitizers: empty, \"address;undefined\" or \"thread\"")
set_property(CACHE SPOOL_SANITIZE PROPERTY STRINGS "" "address;undefined" "thread")
