// Faults planted on purpose, to show that each of the soak's checks can fail.
#pragma once

namespace soak {

enum class plant {
    none,
    lost_task,          ///< a queue destroys a task
    double_run,         ///< a queue makes a task run twice
    wrong_count,        ///< a queue runs a task behind the pool's back
    leaked_task,        ///< a queue keeps a task for ever
    lost_in_throw,      ///< a queue destroys a task as if an exception had lost it
    leaked_thread,      ///< a factory starts one more thread
    leaked_descriptor,  ///< a factory opens a file
    forgotten_words,    ///< a destructor opens an entry for a task and submits none
    unheard_group,      ///< a group made during unwinding is cancelled
    double_cancel,      ///< a stop callback counts its cancellation twice
    dropped_by_lane,    ///< tasks that a serial_executor accepted do not count as run
    unpinned,           ///< a factory that should pin its threads does not
    hang,               ///< a task that never ends
};

}  // namespace soak
