# The component spool::live: a monitor of all pools of a process. POSIX systems only.

set(SPOOL_HAS_LIVE OFF)
if(SPOOL_BUILD_LIVE AND UNIX)
    set(SPOOL_HAS_LIVE ON)
    add_library(spool_live)
    add_library(spool::live ALIAS spool_live)
    target_sources(spool_live
        PUBLIC FILE_SET HEADERS BASE_DIRS include FILES ${SPOOL_LIVE_PUBLIC_HEADERS}
        PRIVATE ${SPOOL_LIVE_SOURCES})
    target_include_directories(spool_live PRIVATE src)
    target_link_libraries(spool_live
        PUBLIC spool
        PRIVATE $<BUILD_INTERFACE:spool_warnings> $<BUILD_INTERFACE:spool_sanitizers>)
    set_target_properties(spool_live PROPERTIES
        EXPORT_NAME live
        CXX_VISIBILITY_PRESET hidden
        VISIBILITY_INLINES_HIDDEN ON
        VERSION ${PROJECT_VERSION}
        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endif()
