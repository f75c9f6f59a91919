#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "pool/threads/thread_setup.hpp"
#include "spool/base/error.hpp"

namespace spool::inline v1 {
namespace {

constexpr std::size_t name_limit = 15;

void check(int error, const worker_info& info, const std::string& what) {
    if (error != 0) {
        throw std::system_error(error, std::generic_category(), "thread " + info.name + ": " + what);
    }
}

class posix_handle final : public worker_thread::handle {
public:
    void set(pthread_t thread) noexcept { thread_ = thread; }
    void join() override { pthread_join(thread_, nullptr); }
    void detach() override { pthread_detach(thread_); }

private:
    pthread_t thread_{};
};

class attributes {
public:
    attributes() { pthread_attr_init(&value); }
    attributes(const attributes&) = delete;
    attributes& operator=(const attributes&) = delete;
    ~attributes() { pthread_attr_destroy(&value); }
    pthread_attr_t value;
};

// Keeps a thread from running its body until its starter has checked which CPUs the thread got.
enum class verdict { pending, go, refused };
using start_gate = std::shared_ptr<std::atomic<verdict>>;

constinit thread_local const std::vector<int>* lease_here = nullptr;

// What the starter passes to the new thread.
struct luggage {
    task body;
    worker_info info;
    std::string name;
    std::optional<int> nice;
    std::function<void(const worker_info&)> on_start;
    std::function<void(const worker_info&)> on_exit;
    cpu_lease cpus;   // released when the thread has ended
    start_gate gate;  // null: nothing to wait for
};

void call(const std::function<void(const worker_info&)>& callback, const worker_info& info,
          const char* which) {
    try {
        if (callback) {
            callback(info);
        }
    } catch (...) {
        report_uncaught("thread " + info.name + ", " + which, std::current_exception());
    }
}

void* run(void* argument) {
    if (const start_gate gate = static_cast<luggage*>(argument)->gate) {
        gate->wait(verdict::pending);
        if (gate->load() == verdict::refused) {
            return nullptr;  // the starter still owns the luggage
        }
    }
    const std::unique_ptr<luggage> mine{static_cast<luggage*>(argument)};
    lease_here = mine->cpus.get();
    pthread_setname_np(pthread_self(), mine->name.c_str());
    if (mine->nice.has_value() &&
        setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), *mine->nice) != 0) {
        report_uncaught("thread " + mine->info.name,
                        std::make_exception_ptr(std::system_error(
                            errno, std::generic_category(), "nice value " + std::to_string(*mine->nice))));
    }
    call(mine->on_start, mine->info, "on_start");
    try {
        mine->body();
    } catch (...) {  // the body of a pool's worker throws nothing; another body may
        report_uncaught("thread " + mine->info.name, std::current_exception());
    }
    mine->body = nullptr;
    call(mine->on_exit, mine->info, "on_exit");
    return nullptr;
}

std::string to_cpu(int cpu) {
    return "affinity to CPU " + std::to_string(cpu);
}

void set_affinity(attributes& attributes, const std::vector<int>& cpus, const worker_info& info) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int cpu : cpus) {
        check(cpu < 0 || cpu >= CPU_SETSIZE ? EINVAL : 0, info, to_cpu(cpu));
        CPU_SET(static_cast<std::size_t>(cpu), &set);
    }
    check(pthread_attr_setaffinity_np(&attributes.value, sizeof(set), &set), info, "affinity");
}

// Returns a CPU that the system refused, if any. The system silently leaves out the CPUs that the
// process may not use, and fails only if none is left.
std::optional<int> refused_cpu(pthread_t thread, const std::vector<int>& cpus) {
    cpu_set_t got;
    CPU_ZERO(&got);
    if (pthread_getaffinity_np(thread, sizeof(got), &got) != 0) {
        return std::nullopt;
    }
    for (const int cpu : cpus) {
        if (!CPU_ISSET(static_cast<std::size_t>(cpu), &got)) {
            return cpu;
        }
    }
    return std::nullopt;
}

}  // namespace

const std::vector<int>* lease_of_this_thread() noexcept {
    return lease_here;
}

worker_thread start_thread(const worker_thread_options& options, task body, const worker_info& info,
                           cpu_lease cpus) {
    const std::vector<int>& affinity = cpus != nullptr ? *cpus : options.affinity;
    attributes attributes;
    if (options.stack_size != 0) {
        check(pthread_attr_setstacksize(&attributes.value, options.stack_size), info,
              "stack size " + std::to_string(options.stack_size));
    }
    start_gate gate;
    if (!affinity.empty()) {
        set_affinity(attributes, affinity, info);
        gate = std::make_shared<std::atomic<verdict>>(verdict::pending);
    }
    auto bag = std::make_unique<luggage>(
        luggage{std::move(body), info, worker_thread_name(options.name_pattern, info, name_limit),
                options.nice, options.on_start, options.on_exit, cpus, gate});
    // Made before the thread exists: afterwards nothing may fail.
    auto handle = std::make_unique<posix_handle>();
    pthread_t thread{};
    const int error = pthread_create(&thread, &attributes.value, &run, bag.get());
    if (error == EINVAL && !affinity.empty()) {
        check(error, info, to_cpu(affinity.front()));  // the process may use none of them
    }
    check(error, info, "pthread_create");
    if (const auto refused = affinity.empty() ? std::nullopt : refused_cpu(thread, affinity)) {
        gate->store(verdict::refused);
        gate->notify_one();
        pthread_join(thread, nullptr);
        check(EINVAL, info, to_cpu(*refused));
    }
    static_cast<void>(bag.release());  // the new thread owns it now
    if (gate != nullptr) {
        gate->store(verdict::go);
        gate->notify_one();
    }
    handle->set(thread);
    return worker_thread{std::move(handle)};
}

}  // namespace spool::inline v1
