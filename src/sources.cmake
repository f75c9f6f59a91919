# Every file of the library, relative to the repository. scripts/check_sources.py fails when a file under
# include/ or src/ is missing here, or one named here does not exist.

set(SPOOL_PUBLIC_HEADERS
    include/spool/base/cache_line.hpp
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
    include/spool/future/future_link.hpp
    include/spool/future/future_task.hpp
    include/spool/pool/admission.hpp
    include/spool/pool/executors.hpp
    include/spool/pool/pool_hooks.hpp
    include/spool/pool/pool_options.hpp
    include/spool/pool/pool_snapshot.hpp
    include/spool/pool/rejection.hpp
    include/spool/pool/run_state.hpp
    include/spool/pool/thread_factory.hpp
    include/spool/pool/thread_pool_executor.hpp
    include/spool/pool/uncaught_policy.hpp
    include/spool/queue/array_blocking_queue.hpp
    include/spool/queue/blocking_queue.hpp
    include/spool/queue/detail/fifo_end.hpp
    include/spool/queue/detail/pages.hpp
    include/spool/queue/detail/ring_fifo.hpp
    include/spool/queue/detail/segment.hpp
    include/spool/queue/detail/segment_fifo.hpp
    include/spool/queue/detail/segment_store.hpp
    include/spool/queue/detail/slot.hpp
    include/spool/queue/detail/stripe.hpp
    include/spool/queue/linked_blocking_queue.hpp
    include/spool/queue/synchronous_queue.hpp
    include/spool/spool.hpp
    include/spool/sync/backoff.hpp
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
    src/future/future_link.cpp
    src/pool/control_word.hpp
    src/pool/default_parallelism.cpp
    src/pool/executors.cpp
    src/pool/lifecycle.cpp
    src/pool/numbers.cpp
    src/pool/pool_core.hpp
    src/pool/pool_options.cpp
    src/pool/rejection.cpp
    src/pool/self_service.hpp
    src/pool/settings.cpp
    src/pool/submission.cpp
    src/pool/thread_factory.cpp
    src/pool/thread_pool_executor.cpp
    src/pool/thread_setup.hpp
    src/pool/thread_setup_linux.cpp
    src/pool/thread_setup_portable.cpp
    src/pool/timed_body.hpp
    src/pool/worker.hpp
    src/pool/worker_body.hpp
    src/pool/worker_leave.cpp
    src/pool/worker_loop.cpp
    src/pool/worker_start.cpp
    src/queue/array_blocking_queue.cpp
    src/queue/linked_blocking_queue.cpp
    src/queue/pages_linux.cpp
    src/queue/pages_portable.cpp
    src/sync/parking_futex.cpp
    src/sync/parking_portable.cpp
    src/sync/this_task.cpp
)

# One source file per system where systems differ.
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    list(REMOVE_ITEM SPOOL_SOURCES src/pool/thread_setup_portable.cpp src/queue/pages_portable.cpp)
else()
    list(REMOVE_ITEM SPOOL_SOURCES src/pool/thread_setup_linux.cpp src/queue/pages_linux.cpp src/sync/parking_futex.cpp)
endif()
