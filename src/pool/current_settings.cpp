#include "pool/current_settings.hpp"

#include <limits>

#include "spool/queue/blocking_queue.hpp"

namespace spool::inline v1 {
namespace {

// For a count that was probably negative before it was converted.
std::string hint_at_sign(std::size_t n) {
    return n > std::numeric_limits<std::size_t>::max() / 2 ? "; a negative number?" : "";
}

std::string text_of(std::chrono::nanoseconds d) {
    return d == std::chrono::nanoseconds::max() ? "for ever" : std::to_string(d.count()) + " ns";
}
std::string text_of(bool b) {
    return b ? "true" : "false";
}
std::string text_of(measuring m) {
    return !m.is_on()        ? "off"
           : m.period() != 0 ? "every " + std::to_string(m.period())
                             : "adaptive " + std::to_string(m.per_second());
}
std::string text_of_capacity(std::size_t n) {
    return n == blocking_queue<task>::unlimited ? "unlimited" : std::to_string(n);
}

// Lists the fields that get another value.
class difference {
public:
    void add(const char* field, std::string before, std::string after) {
        if (before != after) {
            fields.push_back({field, std::move(before), std::move(after)});
        }
    }
    std::vector<setting_change> fields;
};

}  // namespace

current_settings::current_settings(const std::string& label, pool_options& options, bool queue_first)
    : core_size_(options.core_size),
      maximum_size_(options.maximum_size),
      keep_alive_(std::chrono::nanoseconds{options.keep_alive}.count()),
      core_may_time_out_(options.core_threads_may_time_out),
      measure_(options.measure),
      queue_first_(queue_first),
      label_(label),
      rejection_(std::move(options.rejection)),
      factory_(std::move(options.thread_factory)) {
    check_numbers(now(), {});
    check(static_cast<bool>(*factory_.get()), "the thread factory is empty", {"thread_factory", "empty"});
    check_policy(*rejection_.get());
}

void current_settings::check(bool holds, const std::string& what, const blamed& whom) const {
    if (!holds) {
        throw invalid_settings(label_, whom.field, whom.value, what);
    }
}

// Blames the field that `next` changes.
void current_settings::check_numbers(const numbers& n, const pool_settings& next) const {
    const std::size_t least = n.core;
    const std::size_t most = n.maximum;
    const std::string both = "core_size " + std::to_string(least) + ", maximum_size " + std::to_string(most);
    const std::string limit = std::to_string(largest_pool);
    const blamed core{"core_size", std::to_string(least)};
    const blamed maximum{"maximum_size", std::to_string(most)};
    check(least <= largest_pool,
          "core_size must not exceed " + limit + " (" + both + hint_at_sign(least) + ")", core);
    check(most <= largest_pool,
          "maximum_size must not exceed " + limit + " (" + both + hint_at_sign(most) + ")", maximum);
    check(most > 0, "maximum_size must not be 0 (" + both + ")", maximum);
    check(least <= most, "maximum_size must not be less than core_size (" + both + ")",
          next.core_size.has_value() && !next.maximum_size.has_value() ? core : maximum);
    const blamed keep_alive{"keep_alive", text_of(n.keep_alive)};
    check(n.keep_alive >= std::chrono::nanoseconds::zero(),
          "keep_alive must not be negative (" + std::to_string(n.keep_alive.count()) + " ns)", keep_alive);
    check(n.keep_alive > std::chrono::nanoseconds::zero() || !n.core_may_time_out,
          "keep_alive must not be zero while core threads may time out: they would come and go with every "
          "task",
          next.core_threads_may_time_out.has_value() && !next.keep_alive.has_value()
              ? blamed{"core_threads_may_time_out", text_of(n.core_may_time_out)}
              : keep_alive);
}

void current_settings::check_policy(const rejection_policy& policy) const {
    check(static_cast<bool>(policy), "the rejection policy is empty", {"rejection", "empty"});
}

void current_settings::refuse_capacity(std::size_t n, const std::string& why) const {
    throw invalid_settings(label_, "queue_capacity", text_of_capacity(n),
                           "queue_capacity cannot become " + text_of_capacity(n) + ": " + why);
}

// Allocates everything before it stores the first field (S3). The policy before is destroyed after
// the lock, since it may be user code.
auto current_settings::apply(const pool_settings& next, const std::optional<capacity_change>& capacity,
                             apply_mode mode) -> result {
    std::shared_ptr<const rejection_policy> policy;
    if (next.rejection.has_value()) {
        check_policy(*next.rejection);
        policy = std::make_shared<const rejection_policy>(*next.rejection);
    }
    const detail::lock_guard lock{mutex_};
    const numbers before = now();
    const numbers after{next.core_size.value_or(before.core), next.maximum_size.value_or(before.maximum),
                        next.keep_alive.value_or(before.keep_alive),
                        next.core_threads_may_time_out.value_or(before.core_may_time_out),
                        next.measure.value_or(before.measure)};
    check_numbers(after, next);
    difference d;
    d.add("core_size", std::to_string(before.core), std::to_string(after.core));
    d.add("maximum_size", std::to_string(before.maximum), std::to_string(after.maximum));
    d.add("keep_alive", text_of(before.keep_alive), text_of(after.keep_alive));
    d.add("core_threads_may_time_out", text_of(before.core_may_time_out), text_of(after.core_may_time_out));
    if (capacity.has_value()) {
        d.add("queue_capacity", text_of_capacity(capacity->before), text_of_capacity(capacity->after));
    }
    if (policy != nullptr) {
        const std::shared_ptr<const rejection_policy> old = rejection_.get();
        if (*old != *policy) {
            d.fields.push_back({"rejection", std::string{name_of(*old)}, std::string{name_of(*policy)}});
        }
    }
    d.add("measure", text_of(before.measure), text_of(after.measure));
    result answer{{version(), std::move(d.fields)}, before.core, after.core};
    if (mode == apply_mode::change && !answer.change.fields.empty()) {
        store(after);
        if (policy != nullptr) {
            policy = rejection_.exchange(std::move(policy));
        }
        answer.change.version = version_.fetch_add(1) + 1;
    }
    return answer;
}

// In an order that keeps S1.
void current_settings::store(const numbers& next) noexcept {
    if (next.maximum >= core_size_.load()) {
        maximum_size_.store(next.maximum);
        core_size_.store(next.core);
    } else {
        core_size_.store(next.core);
        maximum_size_.store(next.maximum);
    }
    keep_alive_.store(next.keep_alive.count());
    core_may_time_out_.store(next.core_may_time_out);
    measure_.store(next.measure);
}

void current_settings::set_factory(thread_factory factory) {
    check(static_cast<bool>(factory), "the thread factory is empty", {"thread_factory", "empty"});
    factory_.set(std::move(factory));
}

void current_settings::copy_after_fork(pool_options& options) const {
    options.core_size = core_size_.load();
    options.maximum_size = maximum_size_.load();
    options.keep_alive = keep_alive();
    options.core_threads_may_time_out = core_may_time_out_.load();
    options.measure = measure_.load();
    options.thread_factory = *factory_.get_after_fork();
    options.rejection = *rejection_.get_after_fork();
}

}  // namespace spool::inline v1
