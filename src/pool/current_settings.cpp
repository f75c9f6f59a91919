#include "pool/current_settings.hpp"

#include <limits>
#include <stdexcept>

namespace spool::inline v1 {
namespace {

// For a count that was probably negative before it was converted.
std::string hint_at_sign(std::size_t n) {
    return n > std::numeric_limits<std::size_t>::max() / 2 ? "; a negative number?" : "";
}

}  // namespace

current_settings::current_settings(const std::string& label, pool_options& options, bool queue_first)
    : core_size_(options.core_size),
      maximum_size_(options.maximum_size),
      keep_alive_(std::chrono::nanoseconds{options.keep_alive}.count()),
      core_may_time_out_(options.core_threads_may_time_out),
      queue_first_(queue_first),
      label_(label),
      rejection_(std::move(options.rejection)),
      factory_(std::move(options.thread_factory)) {
    check_sizes(options.core_size, options.maximum_size);
    check_keep_alive(options.keep_alive, options.core_threads_may_time_out);
    check(static_cast<bool>(*factory_.get()), "the thread factory is empty");
    check(static_cast<bool>(*rejection_.get()), "the rejection policy is empty");
}

void current_settings::check(bool holds, const std::string& what) const {
    if (!holds) {
        throw std::invalid_argument(label_ + ": " + what);
    }
}

void current_settings::check_sizes(std::size_t least, std::size_t most) const {
    const std::string both = "core_size " + std::to_string(least) + ", maximum_size " + std::to_string(most);
    const std::string limit = std::to_string(largest_pool);
    check(least <= largest_pool,
          "core_size must not exceed " + limit + " (" + both + hint_at_sign(least) + ")");
    check(most <= largest_pool,
          "maximum_size must not exceed " + limit + " (" + both + hint_at_sign(most) + ")");
    check(most > 0, "maximum_size must not be 0 (" + both + ")");
    check(least <= most, "maximum_size must not be less than core_size (" + both + ")");
}

void current_settings::check_keep_alive(std::chrono::nanoseconds d, bool core_may_time_out) const {
    const std::string value = std::to_string(d.count()) + " ns";
    check(d >= std::chrono::nanoseconds::zero(), "keep_alive must not be negative (" + value + ")");
    check(d > std::chrono::nanoseconds::zero() || !core_may_time_out,
          "keep_alive must not be zero while core threads may time out: they would come and go with every "
          "task");
}

std::size_t current_settings::set_core_size(std::size_t n) {
    const detail::lock_guard lock{mutex_};
    check_sizes(n, maximum_size_.load());
    const std::size_t before = core_size_.exchange(n);
    version_.fetch_add(1);
    return before;
}

void current_settings::set_maximum_size(std::size_t n) {
    const detail::lock_guard lock{mutex_};
    check_sizes(core_size_.load(), n);
    maximum_size_.store(n);
    version_.fetch_add(1);
}

void current_settings::set_keep_alive(std::chrono::nanoseconds d) {
    const detail::lock_guard lock{mutex_};
    check_keep_alive(d, core_may_time_out_.load());
    keep_alive_.store(d.count());
    version_.fetch_add(1);
}

void current_settings::set_core_may_time_out(bool allow) {
    const detail::lock_guard lock{mutex_};
    check_keep_alive(keep_alive(), allow);
    core_may_time_out_.store(allow);
    version_.fetch_add(1);
}

void current_settings::set_rejection(rejection_policy policy) {
    check(static_cast<bool>(policy), "the rejection policy is empty");
    rejection_.set(std::move(policy));
}

void current_settings::set_factory(thread_factory factory) {
    check(static_cast<bool>(factory), "the thread factory is empty");
    factory_.set(std::move(factory));
}

void current_settings::copy_without_lock(pool_options& options) const {
    options.core_size = core_size_.load();
    options.maximum_size = maximum_size_.load();
    options.keep_alive = keep_alive();
    options.core_threads_may_time_out = core_may_time_out_.load();
    options.thread_factory = *factory_.get_without_lock();
    options.rejection = *rejection_.get_without_lock();
}

}  // namespace spool::inline v1
