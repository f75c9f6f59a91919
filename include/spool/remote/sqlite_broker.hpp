// sqlite_broker: jobs in a file, for the processes of one machine.
#pragma once

#include <memory>
#include <string>

#include "spool/base/deadline.hpp"
#include "spool/remote/broker.hpp"

namespace spool::inline v1::remote {

/// What survives a power loss. Either survives a crash of the process.
enum class durability {
    full,     ///< every acknowledged call
    relaxed,  ///< all but the last calls; several times faster
};

struct sqlite_options {
    /// The file; it is created if it is missing. Its folder must be on a local file system: locks
    /// of network file systems are not reliable, and the broker refuses them.
    std::string file = {};
    remote::durability durability = durability::full;
    /// How long a call waits for other processes before it throws broker_error.
    duration_setting busy_timeout = std::chrono::seconds{10};
};

/// A broker in an SQLite file. The clock is the machine's boot-time clock, which all processes
/// share
/// and which no change of the date moves. When the process of a worker ends, others see it within
/// half a second, by a lock that it held.
/// \throws broker_error if the file cannot be opened, or has another schema version
[[nodiscard]] SPOOL_API std::shared_ptr<broker> sqlite(sqlite_options options);
[[nodiscard]] SPOOL_API std::shared_ptr<broker> sqlite(std::string file);

}  // namespace spool::inline v1::remote
