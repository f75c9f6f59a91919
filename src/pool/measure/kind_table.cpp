#include "pool/measure/kind_table.hpp"

#include <algorithm>

#include "base/type_name.hpp"
#include "pool/worker/timed_body.hpp"
#include "spool/detail/future_link.hpp"

namespace spool::inline v1 {

kind_key kind_of(const task& work) noexcept {
    if (const auto* timed = work.target<timed_body>()) {
        return kind_of(timed->inner());
    }
    if (const future_link link{work}; link) {
        const char* const named = link.kind();
        return named != nullptr ? kind_key{named, false} : kind_key{link.body_type().name(), true};
    }
    if (const char* const named = work.kind()) {
        return {named, false};
    }
    return {work.type().name(), true};
}

std::string readable_kind(kind_key key) {
    return key.is_type ? detail::readable_type_name(key.text) : std::string{key.text};
}

std::uint32_t kind_table::find(kind_key key) noexcept {
    for (std::uint32_t i = 0; i < most; ++i) {
        entry& e = entries_[i];
        use now = e.state.load(std::memory_order_acquire);  // pairs with the release below
        if (now == use::free && e.state.compare_exchange_strong(now, use::claimed)) {
            e.text.store(key.text, std::memory_order_relaxed);        // relaxed: published below
            e.is_type.store(key.is_type, std::memory_order_relaxed);  // relaxed: published below
            e.state.store(use::ready, std::memory_order_release);     // publishes the key
            return i;
        }
        if (now == use::claimed) {  // about to get its key: rare, and one sample more for "other"
            continue;
        }
        // relaxed: read after the acquire
        if (e.text.load(std::memory_order_relaxed) == key.text) {
            return i;
        }
    }
    return other;
}

void kind_table::add(std::uint32_t i, std::chrono::nanoseconds run, std::uint64_t weight) noexcept {
    const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(run.count(), 0));
    entries_[i].tasks.fetch_add(weight, std::memory_order_relaxed);     // relaxed, statistic
    entries_[i].run.fetch_add(ns * weight, std::memory_order_relaxed);  // relaxed, statistic
}

std::string kind_table::name(std::uint32_t i) const {
    const entry& e = entries_[std::min<std::size_t>(i, most)];
    if (i >= most || e.state.load(std::memory_order_acquire) != use::ready) {  // pairs with find()
        return "other";
    }
    // relaxed: read after the acquire
    return readable_kind({e.text.load(std::memory_order_relaxed), e.is_type.load(std::memory_order_relaxed)});
}

std::vector<kind_reading> kind_table::read() const {
    std::vector<kind_reading> all;
    for (std::uint32_t i = 0; i <= most; ++i) {
        const std::uint64_t tasks = entries_[i].tasks.load(std::memory_order_relaxed);  // statistic
        if (tasks == 0) {
            continue;
        }
        const std::uint64_t ns = entries_[i].run.load(std::memory_order_relaxed);  // statistic
        const std::chrono::nanoseconds run{static_cast<std::int64_t>(ns)};
        std::string kind = name(i);
        const auto same =
            std::find_if(all.begin(), all.end(), [&](const kind_reading& k) { return k.kind == kind; });
        if (same == all.end()) {
            all.push_back({std::move(kind), tasks, run});
        } else {
            same->tasks += tasks;
            same->run += run;
        }
    }
    return all;
}

}  // namespace spool::inline v1
