#include "ledger.hpp"

namespace soak {

const char* to_string(way w) noexcept {
    switch (w) {
        case way::execute: return "execute";
        case way::try_execute: return "try_execute";
        case way::execute_for: return "execute_for";
        case way::bulk: return "execute_all";
        case way::submit: return "submit";
        case way::submit_bulk: return "submit_all";
        case way::once: return "schedule";
        case way::periodic: return "periodic";
        case way::child: return "child of a group";
    }
    return "?";
}

entry* ledger::open(way by, std::size_t pool, int depth, std::uint64_t script) {
    auto made = std::make_unique<entry>();
    made->by = by;
    made->pool = pool;
    made->depth = depth;
    made->script = script;
    made->priority = static_cast<int>(script % 5);
    const std::lock_guard lock{mutex_};
    if (entries_.size() >= most && depth != never_acts) {
        return nullptr;
    }
    made->number = entries_.size();
    return entries_.emplace_back(std::move(made)).get();
}

std::size_t ledger::size() const {
    const std::lock_guard lock{mutex_};
    return entries_.size();
}

entry* ledger::at(std::size_t number) const {
    const std::lock_guard lock{mutex_};
    return number < entries_.size() ? entries_[number].get() : nullptr;
}

void ledger::note(std::vector<std::pair<spool::task_id, std::atomic<int> entry::*>>& seen) const {
    std::unordered_map<spool::task_id, entry*> by_id;
    for (std::size_t i = 0; i < size(); ++i) {
        if (const spool::task_id id = at(i)->id.load(); id != 0) {
            by_id[id] = at(i);
        }
    }
    for (const auto& [id, field] : seen) {
        if (const auto found = by_id.find(id); found != by_id.end()) {
            ++(found->second->*field);
        }
    }
    seen.clear();
}

}  // namespace soak
