#include "spool/remote/executor.hpp"

#include "executor_core.hpp"
#include "spool/base/error.hpp"

namespace spool::inline v1::remote {
namespace detail {
namespace {

[[noreturn]] void wrong(const executor_options& options, const std::string& reason) {
    throw std::invalid_argument("remote::executor \"" + options.name + "\": " + reason);
}

executor_options checked(executor_options options) {
    if (options.broker == nullptr) {
        wrong(options, "no broker");
    }
    if (options.queue.empty()) {
        wrong(options, "the name of the queue is empty");
    }
    if (options.when_full == full_policy::caller_runs) {
        wrong(options, "caller_runs is not possible: a job is a name, and its body is in the workers; "
                       "use abort, discard, discard_oldest or block");
    }
    if (std::chrono::nanoseconds{options.poll} <= std::chrono::nanoseconds{0}) {
        wrong(options, "poll must be positive");
    }
    return options;
}

}  // namespace

std::exception_ptr failure_of(const job_record& job, const std::string& executor) {
    if (job.error_type == timed_out_type) {
        return std::make_exception_ptr(timed_out("job " + job.id.text() + ": " + job.error_text));
    }
    if (job.error_type == evicted_type) {
        return std::make_exception_ptr(
            rejected_execution(rejection_reason::evicted, executor, "job " + job.id.text()));
    }
    std::string what = "job " + job.id.text() + ": " + job.function + " ";
    if (job.state == job_state::dead) {
        what += "is dead: " + job.error_text;
    } else {
        what += "failed on \"" + job.worker + "\" after " + std::to_string(job.attempt) +
                " error(s): " + job.error_type + ": " + job.error_text;
    }
    return std::make_exception_ptr(remote_error(job.state, job, what));
}

executor_link::executor_link(executor_options options)
    : core_(std::make_shared<executor_core>(checked(std::move(options)))) {
    core_->start();
}

executor_link::~executor_link() {
    core_->close();
}

new_job executor_link::prepare(const submit_options& how, std::string_view function, std::uint64_t signature,
                               bytes args) const {
    return core_->prepare(how, function, signature, std::move(args));
}

std::uint64_t executor_link::next_number() noexcept {
    return core_->next_number();
}

void executor_link::done(const std::weak_ptr<executor_core>& core, std::uint64_t number) noexcept {
    if (const std::shared_ptr<executor_core> strong = core.lock(); strong != nullptr) {
        strong->done(number);
    }
}

std::vector<job_id> executor_link::submit(std::vector<new_job> jobs, std::vector<entry> entries) {
    return core_->submit(std::move(jobs), std::move(entries));
}

void executor_link::find(const job_id& id, std::string_view function, std::uint64_t signature, entry e) {
    core_->find(id, function, signature, std::move(e));
}

}  // namespace detail

executor::executor(executor_options options) : link_(std::move(options)) {}
executor::~executor() = default;

bool executor::cancel(const job_id& id) {
    return link_.core().cancel(id);
}

void executor::shutdown() {
    link_.core().shutdown();
}

bool executor::await_all_until(deadline until) {
    return link_.core().await_all_until(until);
}

std::size_t executor::pending_count() const {
    return link_.core().pending_count();
}

remote::broker& executor::broker() const noexcept {
    return link_.core().broker();
}

void executor::add_periodic(std::chrono::nanoseconds every, const std::string& key, new_job job) {
    link_.core().add_periodic(every, key, std::move(job));
}

}  // namespace spool::inline v1::remote
