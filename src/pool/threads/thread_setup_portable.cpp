#include <stdexcept>
#include <thread>
#include <utility>

#include "pool/threads/thread_setup.hpp"
#include "spool/base/error.hpp"

namespace spool::inline v1 {

const std::vector<int>* lease_of_this_thread() noexcept {
    return nullptr;
}

// std::thread supports neither names, stack sizes, affinity nor priorities. Ignores the name, and
// refuses the other settings if they were asked for.
worker_thread start_thread(const worker_thread_options& options, task body, const worker_info& info,
                           cpu_lease cpus) {
    if (options.stack_size != 0 || !options.affinity.empty() || cpus != nullptr || options.nice.has_value()) {
        throw std::runtime_error("thread " + info.name +
                                 ": stack size, affinity and nice value cannot be set here");
    }
    const auto call = [](const std::function<void(const worker_info&)>& callback, const worker_info& where) {
        try {
            if (callback) {
                callback(where);
            }
        } catch (...) {
            report_uncaught("thread " + where.name, std::current_exception());
        }
    };
    return std::thread([body = std::move(body), info, on_start = options.on_start, on_exit = options.on_exit,
                        call]() mutable {
        call(on_start, info);
        body();
        body = nullptr;
        call(on_exit, info);
    });
}

}  // namespace spool::inline v1
