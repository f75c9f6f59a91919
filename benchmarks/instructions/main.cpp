// Counts the instructions of execute() and submit(), on the submitter's thread and on the worker's,
// by single-stepping a child process. Unlike a time, such a count is the same in every run, so it
// shows what a change costs on a busy machine too. Linux on x86-64 only.
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <spool/spool.hpp>

namespace {

constexpr int rounds = 41;  // fewer than a segment of the queue holds

// The parent counts the steps from one call of this function to the next.
[[gnu::noinline]] void mark() {
    asm volatile("");
}

void stop_here() {
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGSTOP);
}
void end_here() {
    syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGSTOP);
}

struct plan {
    const char* name;
    bool on_worker;
    bool submits;
    bool stealing;
};

// In the child. The worker is held while the submitter is counted, so that no wake-up comes
// between.
void run(const plan& what) {
    auto pool = what.stealing ? spool::work_stealing_pool(1) : spool::fixed_thread_pool(1);
    std::atomic<bool> held{true};
    std::vector<spool::future<int>> kept(rounds + 8);
    pool.submit([] {}).get();
    pool.execute([&held] {
        while (held.load()) {
            usleep(100);
        }
    });
    usleep(20'000);
    if (what.on_worker) {
        pool.execute(&stop_here);
    } else {
        pool.execute([] {});
        kept[0] = pool.submit([] { return 0; });
        stop_here();
    }
    for (int i = 0; i < rounds; ++i) {
        if (!what.on_worker) {
            mark();
        }
        if (what.submits) {
            kept[static_cast<std::size_t>(i)] = pool.submit([on_worker = what.on_worker] {
                if (on_worker) {
                    mark();
                }
                return 1;
            });
        } else {
            pool.execute([on_worker = what.on_worker] {
                if (on_worker) {
                    mark();
                }
            });
        }
    }
    if (what.on_worker) {
        pool.execute(&end_here);
    } else {
        mark();
        end_here();
    }
    held = false;
    pool.close();
}

// The median number of instructions from mark to mark; -1 if the system does not allow it.
long count(const plan& what) {
    const pid_t child = fork();
    if (child == 0) {
        run(what);
        _exit(0);
    }
    int status = 0;
    const pid_t tid = waitpid(-1, &status, __WALL);
    std::vector<long> counts;
    long steps = 0;
    bool begun = false;
    while (tid > 0 && WIFSTOPPED(status)) {
        if (WSTOPSIG(status) == SIGSTOP && begun) {
            break;
        }
        begun = true;
        user_regs_struct registers{};
        if (ptrace(PTRACE_GETREGS, tid, nullptr, &registers) != 0) {
            break;
        }
        ++steps;
        if (registers.rip == reinterpret_cast<unsigned long long>(&mark)) {
            counts.push_back(steps);
            steps = 0;
        }
        if (ptrace(PTRACE_SINGLESTEP, tid, nullptr, nullptr) != 0 || waitpid(tid, &status, __WALL) != tid) {
            break;
        }
    }
    kill(child, SIGKILL);
    while (waitpid(-1, &status, __WALL) > 0) {}
    if (counts.size() < 8) {
        return -1;
    }
    counts.erase(counts.begin());  // up to the first mark
    std::nth_element(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(counts.size() / 2),
                     counts.end());
    return counts[counts.size() / 2];
}

}  // namespace

int main() {
    constexpr plan plans[] = {
        {"execute, linked queue, submitter", false, false, false},
        {"execute, linked queue, worker", true, false, false},
        {"submit, linked queue, submitter", false, true, false},
        {"submit, linked queue, worker", true, true, false},
        {"execute, work-stealing queue, submitter", false, false, true},
        {"execute, work-stealing queue, worker", true, false, true},
        {"submit, work-stealing queue, submitter", false, true, true},
        {"submit, work-stealing queue, worker", true, true, true},
    };
    for (const plan& one : plans) {
        const long found = count(one);
        if (found < 0) {
            std::printf("%-40s cannot be counted here: ptrace is refused\n", one.name);
        } else {
            std::printf("%-40s %ld\n", one.name, found);
        }
    }
}
