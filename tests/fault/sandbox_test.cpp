// A process enters a sandbox that refuses membarrier after a pool has begun to use it: everything
// still works.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include <spool/detail/backoff.hpp>
#include <spool/spool.hpp>
#include <spool/sync/barrier.hpp>

#include "support/eventually.hpp"
#include "unit/pool/fork/fork_helpers.hpp"

namespace {

using spool::task;

// Makes membarrier take `action` in every thread of the process from now on. False: the system has
// no such filters.
bool enter_sandbox(unsigned action) {
    sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offsetof(seccomp_data, nr))),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, action),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    sock_fprog filter{static_cast<unsigned short>(std::size(steps)), steps};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) == 0;
}
constexpr unsigned refuse = SECCOMP_RET_ERRNO | EPERM;

constexpr int no_sandbox = 77;

// Runs tasks that fork tasks, in bursts, so that workers steal and fall asleep. Returns the number
// of bursts, or -1 if a burst does not end.
int work_a_stealing_pool(spool::thread_pool_executor& pool, int bursts) {
    constexpr int children = 20;
    std::atomic<int> ran{0};
    for (int i = 0; i < bursts; ++i) {
        pool.execute([&] {
            for (int n = 0; n < children; ++n) {
                pool.execute([&] { ++ran; });
            }
        });
        if (!test::eventually([&] { return ran == (i + 1) * children; })) {
            return -1;
        }
    }
    return ran / children;
}

std::unique_ptr<spool::thread_pool_executor> stealing_pool() {
    return std::make_unique<spool::thread_pool_executor>(
        spool::pool_options{.core_size = 3, .queue = std::make_unique<spool::work_stealing_queue<task>>()});
}

#define SKIP_WITHOUT_SANDBOX(end)                                                                            \
    if ((end).status == no_sandbox) {                                                                        \
        GTEST_SKIP() << "the system refuses seccomp filters";                                                \
    }

TEST(late_sandbox, stealing_pool_keeps_working_after_membarrier_is_refused) {
    const test::child_end end = test::in_child([] {
        const auto pool = stealing_pool();
        if (work_a_stealing_pool(*pool, 20) != 20) {
            return 1;
        }
        if (!enter_sandbox(refuse)) {
            return no_sandbox;
        }
        if (work_a_stealing_pool(*pool, 200) != 200) {
            return 2;
        }
        // Light barriers become full fences when the first idle worker is refused a heavy one.
        if (!test::eventually([] { return !spool::detail::heavy_barrier_reaches_all; })) {
            return 4;
        }
        const auto second = stealing_pool();  // made inside the sandbox
        if (work_a_stealing_pool(*second, 100) != 100) {
            return 3;
        }
        if (spool::detail::heavy_barrier_reaches_all) {
            return 5;
        }
        pool->close();
        second->close();
        return 0;
    });
    SKIP_WITHOUT_SANDBOX(end);
    EXPECT_EQ(end.status, 0) << end.said;
    const std::size_t first = end.said.find("membarrier");
    EXPECT_NE(first, std::string::npos) << end.said;
    EXPECT_EQ(end.said.find("membarrier", first + 1), std::string::npos) << "said twice: " << end.said;
}

TEST(late_sandbox, pool_made_inside_the_sandbox_needs_no_membarrier_and_reports_nothing) {
    const test::child_end end = test::in_child([] {
        if (!enter_sandbox(refuse)) {
            return no_sandbox;
        }
        return work_a_stealing_pool(*stealing_pool(), 100) == 100 ? 0 : 1;
    });
    SKIP_WITHOUT_SANDBOX(end);
    EXPECT_EQ(end.status, 0);
    EXPECT_EQ(end.said, "");
}

TEST(late_sandbox, with_full_fences_from_the_start_membarrier_is_never_called) {
    const test::child_end end = test::in_child([] {
        setenv("SPOOL_FULL_FENCES", "1", 1);
        if (!enter_sandbox(SECCOMP_RET_KILL_PROCESS)) {
            return no_sandbox;
        }
        return work_a_stealing_pool(*stealing_pool(), 100) == 100 ? 0 : 1;
    });
    SKIP_WITHOUT_SANDBOX(end);
    EXPECT_EQ(end.status, 0);
    EXPECT_EQ(end.said, "");
}

// Two threads each write a word and then read the other's word. One executes a light barrier in
// between, the other a heavy one. At least one thread must see the other's write. In the middle of
// the test the sandbox begins to refuse membarrier.
struct handshake {
    struct alignas(128) word {
        std::atomic<int> value{0};
    };
    static constexpr int before = 2000;  // rounds
    static constexpr int over = -1;
    word light, heavy, go, done;
    int seen_by_light = 0;

    // Spins instead of sleeping, so that both sides stay in step. Yields now and then.
    static int await_other_than(const word& w, int old) {
        for (unsigned looks = 1;; ++looks) {
            // acquire: what the other side did before
            const int now = w.value.load(std::memory_order_acquire);
            if (now != old) {
                return now;
            }
            if (looks % 4096 == 0) {
                std::this_thread::yield();
            }
        }
    }
    void light_side() {
        for (int round = 0; (round = await_other_than(go, round)) != over;) {
            light.value.store(round, std::memory_order_relaxed);  // relaxed: the barrier orders it
            spool::light_barrier();
            // relaxed: the barrier orders it
            seen_by_light = heavy.value.load(std::memory_order_relaxed);
            done.value.store(round, std::memory_order_release);  // release: publishes seen_by_light
        }
    }
    // True: the light side saw this side's write of the round, or this side saw the light side's.
    bool one_sees_the_other(int round) {
        go.value.store(round, std::memory_order_release);  // release: the round's start
        // The light side notices the start a little later. The pauses make both sides write at the
        // same time in some rounds.
        for (int pauses = round % 16; pauses > 0; --pauses) {
            spool::backoff::relax();
        }
        heavy.value.store(round, std::memory_order_relaxed);  // relaxed: the barrier orders it
        spool::heavy_barrier();
        // relaxed: the barrier orders it
        const int seen = light.value.load(std::memory_order_relaxed);
        await_other_than(done, round - 1);
        return seen == round || seen_by_light == round;
    }
    int heavy_side() {
        int answer = 0;
        int round = 1;
        for (; answer == 0 && round < before; ++round) {
            answer = one_sees_the_other(round) ? 0 : 1;
        }
        if (answer == 0 && !enter_sandbox(refuse)) {
            answer = no_sandbox;
        }
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{1};
        for (; answer == 0 && std::chrono::steady_clock::now() < until; ++round) {
            answer = one_sees_the_other(round) ? 0 : 2;
        }
        go.value.store(over);
        return answer;
    }
};

TEST(late_sandbox, light_and_heavy_barrier_order_both_threads_before_and_after_the_refusal) {
    if (std::thread::hardware_concurrency() < 2) {
        GTEST_SKIP() << "needs two CPUs";
    }
    const test::child_end end = test::in_child([] {
        spool::prepare_barriers();
        handshake both;
        std::thread light{[&] { both.light_side(); }};
        const int answer = both.heavy_side();
        light.join();
        return answer;
    });
    SKIP_WITHOUT_SANDBOX(end);
    EXPECT_EQ(end.status, 0) << end.said;
}

}  // namespace
