// Faults planted on purpose, to show that each of the soak's checks can fail.
#pragma once

namespace soak {

enum class plant {
    none,
    lost_task,          ///< a queue destroys a task
    double_run,         ///< a queue makes a task run twice
    wrong_count,        ///< a queue runs a task behind the pool's back
    leaked_task,        ///< a queue keeps a task for ever
    leaked_thread,      ///< a factory starts one thread more
    leaked_descriptor,  ///< a factory opens a file
    hang,               ///< a task that never ends
};

}  // namespace soak
