#include "spool/pool/pool_options.hpp"

#include "spool/base/error.hpp"
#include "spool/queue/linked_blocking_queue.hpp"

namespace spool::inline v1 {

std::unique_ptr<blocking_queue<task>> unbounded_fifo() {
    return std::make_unique<linked_blocking_queue<task>>();
}

pool_hooks::~pool_hooks() = default;
void pool_hooks::after_execute(const task_info&, const std::exception_ptr&) {}

void uncaught_policy::operator()(const worker_info& worker, const std::exception_ptr& error) const noexcept {
    (*this)(task_info{.worker = &worker}, error);
}

void uncaught_policy::operator()(const task_info& task, const std::exception_ptr& error) const noexcept {
    const worker_info& worker = *task.worker;
    const auto report = [&worker](const char* who, const std::exception_ptr& what) noexcept {
        try {
            report_uncaught("pool \"" + worker.pool + "\", thread " + worker.name + who, what);
        } catch (...) {  // no memory for the words
            report_uncaught("a pool", what);
        }
    };
    if (handler_ == nullptr) {
        report("", error);
    } else {
        try {
            handler_(task, error);
        } catch (...) {
            report(", the handler of uncaught exceptions", std::current_exception());
        }
    }
    if (terminates_) {
        std::terminate();
    }
}

}  // namespace spool::inline v1
