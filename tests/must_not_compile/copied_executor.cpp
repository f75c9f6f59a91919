// expect: (use of deleted function|call to (implicitly-)?deleted)[^\n]*thread_per_task_executor
// An executor owns its threads.
#include <spool/executor/thread_per_task_executor.hpp>

int main() {
    spool::thread_per_task_executor original;
    spool::thread_per_task_executor copy = original;
}
