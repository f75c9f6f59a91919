#include "sweep.hpp"

#include <algorithm>
#include <cmath>
#include <spool/executor/submit.hpp>
#include <spool/pool/executors.hpp>
#include <tuple>

#include "duration_text.hpp"

namespace spool::lab {
namespace {

constexpr std::size_t size_levels = 9;
constexpr std::size_t most_threads = 4096;

// Returns sizes from 60 % of the mean demand to the peak demand, in a geometric progression.
std::vector<std::size_t> sizes_worth_trying(const scenario& s) {
    const demand d = demand_of(s);
    const double least = std::max(1.0, d.mean * 0.6);
    const double most = std::clamp(d.peak, least + size_levels, double{most_threads});
    std::vector<std::size_t> sizes;
    for (std::size_t i = 0; i < size_levels; ++i) {
        const double part = static_cast<double>(i) / (size_levels - 1);
        const auto size = static_cast<std::size_t>(std::lround(least * std::pow(most / least, part)));
        sizes.push_back(sizes.empty() ? size : std::max(size, sizes.back() + 1));
    }
    return sizes;
}

auto price(const trial& t) {
    return std::tuple{t.figures.all.wait.p99, t.figures.all.refusal_share(), t.figures.peak_threads};
}

bool beats(const trial& a, const trial& b) {
    const auto [a_wait, a_refused, a_threads] = price(a);
    const auto [b_wait, b_refused, b_threads] = price(b);
    return a_wait <= b_wait && a_refused <= b_refused && a_threads <= b_threads && price(a) != price(b);
}

}  // namespace

demand demand_of(const scenario& s) {
    settings limitless = s.pool;
    limitless.core = 0;
    limitless.maximum = most_threads;
    limitless.queue = queue_kind::synchronous;
    limitless.capacity = 0;
    const run_record run = simulate(with_settings(s, limitless));
    return {.mean = mean_concurrency(s, *run.plan), .peak = static_cast<double>(run.largest_pool)};
}

std::vector<settings> candidates(const scenario& s) {
    const std::vector<std::size_t> sizes = sizes_worth_trying(s);
    const queue_kind bounded = s.pool.queue == queue_kind::linked ? queue_kind::linked : queue_kind::array;
    std::vector<settings> all;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        for (std::size_t j = i; j < sizes.size(); ++j) {
            settings one = s.pool;
            one.core = sizes[i];
            one.maximum = sizes[j];
            one.queue = queue_kind::synchronous;
            one.capacity = 0;
            all.push_back(one);
            one.queue = bounded;
            for (const std::size_t capacity : {4U, 16U, 64U, 256U, 1024U}) {
                one.capacity = capacity;
                all.push_back(one);
            }
            if (i == j) {
                one.queue = queue_kind::linked;
                one.capacity = unlimited;
                all.push_back(one);
            }
        }
    }
    return all;
}

scenario with_settings(scenario s, const settings& pool) {
    s.pool = pool;
    for (change& c : s.changes) {
        c.core.reset();
        c.maximum.reset();
        c.capacity.reset();
    }
    return s;
}

std::vector<trial> sweep(const scenario& s, const std::vector<settings>& all, const simulation& how,
                         bool with_totals) {
    const auto plan = std::make_shared<const std::vector<planned_task>>(make_plan(s));
    std::vector<trial> trials(all.size());
    thread_pool_executor pool = fixed_thread_pool(default_parallelism());
    std::vector<future<void>> done;
    done.reserve(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        done.push_back(pool.submit([&, i] {
            trials[i] = {all[i], summarise_waits(simulate(with_settings(s, all[i]), plan, how), with_totals)};
        }));
    }
    for (future<void>& one : done) {
        one.get();
    }
    return trials;
}

std::vector<trial> frontier(const std::vector<trial>& all) {
    std::vector<trial> best;
    for (const trial& one : all) {
        const bool beaten =
            std::any_of(all.begin(), all.end(), [&](const trial& other) { return beats(other, one); });
        const bool known = std::any_of(best.begin(), best.end(),
                                       [&](const trial& other) { return price(other) == price(one); });
        if (!beaten && !known) {
            best.push_back(one);
        }
    }
    std::sort(best.begin(), best.end(), [](const trial& a, const trial& b) {
        return std::tuple{a.figures.peak_threads, a.figures.all.wait.p99} <
               std::tuple{b.figures.peak_threads, b.figures.all.wait.p99};
    });
    return best;
}

}  // namespace spool::lab
