// The only place that states the version; the build reads it from here.
#pragma once

#define SPOOL_VERSION_MAJOR 0
#define SPOOL_VERSION_MINOR 1
#define SPOOL_VERSION_PATCH 0

namespace spool::inline v1 {

/// The version of these headers, for messages and static_assert.
struct version {
    static constexpr int major = SPOOL_VERSION_MAJOR;
    static constexpr int minor = SPOOL_VERSION_MINOR;
    static constexpr int patch = SPOOL_VERSION_PATCH;
};

}  // namespace spool::inline v1
