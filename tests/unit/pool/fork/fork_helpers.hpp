// Real forks for tests. The child reports its findings as its exit status, and its stderr as text.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "support/delays.hpp"

namespace test {

/// How a child ended: its exit status, or minus the signal that ended it. SIGALRM ends a child that
/// hangs.
struct child_end {
    int status = 0;
    std::string said;
};

inline constexpr int child_threw = 111;

/// Reads the child's stderr from `from`, the reading end of a pipe, then waits for the child.
inline child_end end_of(pid_t child, int from) {
    child_end end;
    char text[512];
    for (ssize_t n = 0; (n = ::read(from, text, sizeof(text))) > 0;) {
        end.said.append(text, static_cast<std::size_t>(n));
    }
    ::close(from);
    int status = 0;
    ::waitpid(child, &status, 0);
    end.status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    return end;
}

/// Forks, and runs `f` in the child. The result of `f` is the exit status: 0 if all is well, else
/// the number of the claim that failed.
template <class F>
child_end in_child(F f) {
    int ends[2];
    if (::pipe(ends) != 0) {
        return {.status = -1, .said = "no pipe"};
    }
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(static_cast<unsigned>(long_delay().count() / 1000));
        ::dup2(ends[1], STDERR_FILENO);
        ::close(ends[0]);
        ::close(ends[1]);
        int answer = child_threw;
        try {
            answer = f();
        } catch (...) {}
        ::_exit(answer);
    }
    ::close(ends[1]);
    return end_of(child, ends[0]);
}

/// For a child whose last thread ends by itself: the process then ends with this status. _exit()
/// skips the leak check, which would report what the lost threads had on their stacks.
inline constexpr int last_thread_ended = 42;
inline void expect_last_thread_to_end() {
    ::alarm(static_cast<unsigned>(long_delay().count() / 1000));
    static_cast<void>(std::atexit([] { ::_exit(last_thread_ended); }));
}

/// The number of the first claim that does not hold, counted from 1; 0 if all hold.
template <class... Claims>
int first_wrong(Claims... claims) {
    int number = 0;
    int wrong = 0;
    ((++number, wrong = wrong == 0 && !claims ? number : wrong), ...);
    return wrong;
}

}  // namespace test
