# Every file of the library, relative to the repository. scripts/check_sources.py fails when a file under
# include/ or src/ is missing here, or one named here does not exist.

set(SPOOL_PUBLIC_HEADERS
    include/spool/base/callable.hpp
    include/spool/base/deadline.hpp
    include/spool/base/error.hpp
    include/spool/base/export.hpp
    include/spool/base/function_ref.hpp
    include/spool/base/task.hpp
    include/spool/base/task_scope.hpp
    include/spool/executor/completion_service.hpp
    include/spool/executor/direct_executor.hpp
    include/spool/executor/executor.hpp
    include/spool/executor/executor_service.hpp
    include/spool/executor/invoke.hpp
    include/spool/executor/serial_executor.hpp
    include/spool/executor/submit.hpp
    include/spool/executor/thread_per_task_executor.hpp
    include/spool/executor/unconfigurable.hpp
    include/spool/future/detail/future_core.hpp
    include/spool/future/detail/future_value.hpp
    include/spool/future/detail/future_word.hpp
    include/spool/future/future.hpp
    include/spool/future/future_task.hpp
    include/spool/queue/blocking_queue.hpp
    include/spool/queue/linked_blocking_queue.hpp
    include/spool/spool.hpp
    include/spool/sync/event_count.hpp
    include/spool/sync/parking.hpp
    include/spool/sync/this_task.hpp
    include/spool/sync/wait_limits.hpp
    include/spool/version.hpp
)

# Compiled files, and the headers that only they may include.
set(SPOOL_SOURCES
    src/base/error.cpp
    src/base/task_id.cpp
    src/base/task_scope.cpp
    src/executor/executor.cpp
    src/executor/executor_service.cpp
    src/executor/serial_executor.cpp
    src/executor/thread_per_task_executor.cpp
    src/executor/unconfigurable.cpp
    src/future/future.cpp
    src/future/future_core.cpp
    src/sync/parking_futex.cpp
    src/sync/parking_portable.cpp
    src/sync/this_task.cpp
)

# What is Linux's own; the portable form is built everywhere.
if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
    list(REMOVE_ITEM SPOOL_SOURCES src/sync/parking_futex.cpp)
endif()
