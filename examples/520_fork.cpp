// A process forks while its pool works: the child's pool starts empty, the parent's is unaffected.
// prints: child: the parent's task is cancelled, 6 \* 7 = 42\nparent: exit status 0, the task brings 1\n
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <latch>

#include <spool/spool.hpp>

int main() {
    // [fork]
    std::latch finish{1};
    spool::thread_pool_executor pool({.core_size = 1, .on_fork = spool::fork_policy::empty});
    auto task = pool.submit([&] {
        finish.wait();
        return 1;
    });

    const pid_t child = fork();
    if (child == 0) {
        task.wait();  // returns: in the child the parent's task is cancelled
        auto product = pool.submit([] { return 6 * 7; });
        std::printf("child: the parent's task is %s, 6 * 7 = %d\n",
                    task.is_cancelled() ? "cancelled" : "not cancelled", product.get());
        std::fflush(stdout);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    finish.count_down();
    std::printf("parent: exit status %d, the task brings %d\n", WEXITSTATUS(status), task.get());
    // [/fork]
}
