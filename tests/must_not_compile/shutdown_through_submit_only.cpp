// expect: (has no member named|no member named) 'shutdown'
// A handle that may only submit cannot shut the executor down.
#include <spool/executor/thread_per_task_executor.hpp>
#include <spool/executor/unconfigurable.hpp>

int main() {
    spool::thread_per_task_executor threads;
    auto handle = spool::unconfigurable(threads);
    handle.execute([] {});
    handle.shutdown();
}
