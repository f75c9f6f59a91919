#include "pool/measure/pool_presence.hpp"

#include <utility>

#include "base/fork_handlers.hpp"
#include "pool/measure/pool_report.hpp"
#include "pool/pool.hpp"
#include "pool/settings_path.hpp"
#include "spool/pool/pool_handle.hpp"

namespace spool::inline v1 {

pool_presence::pool_presence(detail::pool& pool, std::string name, long process)
    : name_(std::move(name)), process_(process), pool_(&pool) {}

bool pool_presence::is_gone() const noexcept {
    if (process_ != process_id()) {
        return true;
    }
    const detail::lock_guard lock{mutex_};
    return pool_ == nullptr;
}

detail::pool* pool_presence::enter() noexcept {
    if (process_ != process_id()) {  // P2
        return nullptr;
    }
    const detail::lock_guard lock{mutex_};
    if (pool_ != nullptr) {
        ++visits_;
    }
    return pool_;
}

void pool_presence::leave() noexcept {
    {
        const detail::lock_guard lock{mutex_};
        --visits_;
        if (visits_ != 0 || pool_ != nullptr) {
            return;
        }
    }
    left_.notify_all();  // pair (M): the mutex
}

void pool_presence::retire() noexcept {
    {
        const detail::lock_guard lock{mutex_};
        pool_ = nullptr;
    }
    static_cast<void>(left_.await(
        [this] {
            const detail::lock_guard lock{mutex_};
            return visits_ == 0;
        },
        {}));
}

// ---- pool_handle

namespace {

template <class F>
auto visit_pool(pool_presence& presence, F f) -> std::optional<decltype(f(std::declval<detail::pool&>()))> {
    const pool_presence::visit visit{presence};
    if (visit.get() == nullptr) {
        return std::nullopt;
    }
    return f(*visit.get());
}

}  // namespace

const std::string& pool_handle::name() const noexcept {
    return pool_->name();
}
bool pool_handle::is_gone() const noexcept {
    return pool_->is_gone();
}
std::optional<pool_reading> pool_handle::read() const {
    return visit_pool(*pool_, [](detail::pool& p) { return detail::reading_of(p); });
}
std::optional<std::vector<worker_reading>> pool_handle::workers() const {
    return visit_pool(*pool_, [](detail::pool& p) { return detail::workers_of(p); });
}
std::optional<std::string> pool_handle::describe() const {
    return visit_pool(*pool_, [](detail::pool& p) { return detail::describe(p); });
}
std::optional<settings_change> pool_handle::apply(const pool_settings& next, apply_mode mode) const {
    return visit_pool(*pool_, [&](detail::pool& p) { return settings_path{p}.apply(next, mode); });
}

std::vector<pool_handle> all_pools() {
    return detail::pool_access::all();
}

}  // namespace spool::inline v1
