// Real forks for tests: what the child finds comes back as its exit status, what it writes to stderr as text.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "support/delays.hpp"

namespace test {

/// How a child ended: its exit status, or minus the signal that ended it. A child that hangs is ended by SIGALRM.
struct child_end {
    int status = 0;
    std::string said;
};

inline constexpr int child_threw = 111;

/// Waits for a child, and hears it out: `from` is the reading end of its stderr.
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

/// Forks, and runs `f` in the child; its answer is the exit status: 0 if all is well, else the number of what is not.
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

/// For a child whose last thread is to end by itself: the process then ends with this status. (Without a look for leaks: what lay on the stacks
/// of the threads that are gone is one.)
inline constexpr int last_thread_ended = 42;
inline void expect_last_thread_to_end() {
    ::alarm(static_cast<unsigned>(long_delay().count() / 1000));
    static_cast<void>(std::atexit([] { ::_exit(last_thread_ended); }));
}

/// The first of several claims that does not hold, counted from 1; 0 if all hold.
template <class... Claims>
int first_wrong(Claims... claims) {
    int number = 0;
    int wrong = 0;
    ((++number, wrong = wrong == 0 && !claims ? number : wrong), ...);
    return wrong;
}

}  // namespace test
