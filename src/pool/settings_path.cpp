#include "pool/settings_path.hpp"

#include <new>
#include <stdexcept>

#include "pool/worker_path.hpp"
#include "spool/base/error.hpp"

namespace spool::inline v1 {

settings_change settings_path::apply(const pool_settings& next, apply_mode mode) {
    if (mode == apply_mode::dry_run) {
        std::optional<capacity_change> capacity;
        if (next.queue_capacity.has_value()) {
            capacity = check_capacity(*next.queue_capacity);
        }
        return pool_.settings.apply(next, capacity, mode).change;
    }
    current_settings::result done = change_all(next);
    if (!done.change.fields.empty()) {
        if (next.measure.has_value()) {
            pool_.meter.set(pool_.settings);
        }
        pool_.backlog.wake_all();  // pair (S): the version of the settings
        worker_path{pool_}.start_after_raised_core(done.core_before, done.core_after);
    }
    return std::move(done.change);
}

current_settings::result settings_path::change_all(const pool_settings& next) {
    return next.queue_capacity.has_value() ? change_with_capacity(next)
                                           : pool_.settings.apply(next, std::nullopt, apply_mode::change);
}

// One change of the capacity at a time: otherwise a refused change could restore a capacity that
// another change has replaced. The queue may be user code, so a call from inside it is refused.
current_settings::result settings_path::change_with_capacity(const pool_settings& next) {
    const capacity_turn::holder turn{pool_.capacity_changes};
    if (!turn) {
        pool_.settings.refuse_capacity(*next.queue_capacity, "the queue itself made this call");
    }
    const capacity_change change = check_capacity(*next.queue_capacity);
    static_cast<void>(pool_.settings.apply(next, change, apply_mode::dry_run));  // refuses early
    set_capacity(change.after);
    SPOOL_PAUSE_POINT("apply: the queue has its new capacity");
    try {
        return pool_.settings.apply(next, change, apply_mode::change);
    } catch (...) {  // another change came in between, or there is no memory
        set_capacity(change.before);
        throw;
    }
}

auto settings_path::check_capacity(std::size_t n) const -> capacity_change {
    const blocking_queue<task>& queue = pool_.backlog.queue();
    try {
        queue.check_capacity(n);
        return {queue.capacity(), n};
    } catch (const std::logic_error& e) {  // the capacity is fixed, or the number is wrong
        pool_.settings.refuse_capacity(n, e.what());
    }
}

void settings_path::set_capacity(std::size_t n) {
    try {
        pool_.backlog.queue().set_capacity(n);
    } catch (const std::logic_error& e) {
        pool_.settings.refuse_capacity(n, e.what());
    }
}

}  // namespace spool::inline v1
