#include "advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>

#include "duration_text.hpp"

namespace spool::lab {
namespace {

constexpr std::uint64_t other_draws = 3;

auto cost(const trial& t) {
    return std::tuple{t.figures.peak_threads, t.with.maximum, t.figures.mean_threads, t.with.capacity};
}

bool meets_with_other_draws(const scenario& s, const goal& g, const settings& pool, const simulation& how) {
    scenario again = with_settings(s, pool);
    for (std::uint64_t i = 1; i <= other_draws; ++i) {
        again.seed = s.seed + i;
        if (!g.met(summarise(simulate(again, how)))) {
            return false;
        }
    }
    return true;
}

// ---- The sentences of the explanation

std::string about_load(const scenario& s, const simulation& how) {
    const demand d = demand_of(s);
    std::string text = fmt::format("The load keeps {:.1f} workers busy on average (arrivals times service "
                                   "time), and would keep {:.0f} busy at its "
                                   "worst moment if nobody ever waited",
                                   d.mean, d.peak);
    if (s.cpu_bound()) {
        text += fmt::format("; it computes, on {} CPU(s)", how.cpus);
    }
    return text + ".";
}

std::string about_own(const goal& g, const trial& own) {
    const settings& s = own.with;
    const run_summary& f = own.figures;
    const std::string figures = g.figures_text(f);
    std::string because;
    if (g.met(f)) {
        because = "they meet the goal already";
    } else if (s.capacity == unlimited && s.maximum > s.core) {
        because = fmt::format("an unbounded queue never refuses, so the pool stayed at {} of {} threads",
                              f.peak_threads, s.maximum);
    } else if (f.peak_threads < s.maximum) {
        because =
            fmt::format("the pool grew to {} of {} threads only: it grows when the {} is full, and so tasks "
                        "wait first",
                        f.peak_threads, s.maximum, queue_text(s));
    } else if (f.all.refusals > 0) {
        because =
            fmt::format("all {} threads were busy{}", s.maximum,
                        s.capacity == 0 ? " and nothing may wait" : ", and the " + queue_text(s) + " full");
    } else {
        because = fmt::format("all {} threads were busy, and up to {} tasks waited", s.maximum, f.peak_queue);
    }
    return fmt::format("The scenario's own settings ({}): {}; {}.", to_text(s), figures, because);
}

// Names the best trial with fewer threads; empty if there is none, or if it meets the goal.
std::string about_fewer_threads(const goal& g, const std::vector<trial>& trials, const trial& chosen) {
    const trial* best = nullptr;
    for (const trial& t : trials) {
        const bool fewer =
            t.figures.peak_threads < chosen.figures.peak_threads && t.with.maximum < chosen.with.maximum;
        if (fewer && (best == nullptr || g.distance(t.figures) < g.distance(best->figures))) {
            best = &t;
        }
    }
    if (best == nullptr || g.met(best->figures)) {
        return {};
    }
    return fmt::format("Fewer threads do not do: the best with at most {} has {} ({}).", best->with.maximum,
                       g.figures_text(best->figures), to_text(best->with));
}

// Compares with the next shorter and the next longer queue at the same sizes.
std::vector<std::string> about_queue(const goal& g, const std::vector<trial>& trials, const trial& chosen) {
    const trial* shorter = nullptr;
    const trial* longer = nullptr;
    for (const trial& t : trials) {
        if (t.with.core != chosen.with.core || t.with.maximum != chosen.with.maximum) {
            continue;
        }
        if (t.with.capacity < chosen.with.capacity &&
            (shorter == nullptr || t.with.capacity > shorter->with.capacity)) {
            shorter = &t;
        }
        if (t.with.capacity > chosen.with.capacity &&
            (longer == nullptr || t.with.capacity < longer->with.capacity)) {
            longer = &t;
        }
    }
    std::vector<std::string> sentences;
    if (shorter != nullptr && !g.met(shorter->figures)) {
        sentences.push_back(fmt::format("With a shorter queue ({}) bursts are refused rather than kept: {}.",
                                        queue_text(shorter->with), g.figures_text(shorter->figures)));
    }
    if (longer != nullptr && !g.met(longer->figures)) {
        sentences.push_back(fmt::format("With a longer queue ({}) tasks wait before the pool grows: {}.",
                                        queue_text(longer->with), g.figures_text(longer->figures)));
    }
    return sentences;
}

std::string about_failure(const scenario& s, const goal& g, const trial& nearest, const simulation& how) {
    std::string unmet;
    for (const goal_part& p : g.parts) {
        if (!p.met(nearest.figures)) {
            unmet += (unmet.empty() ? "" : " and ") +
                     fmt::format("{} (it is {})", p.text, p.figure_text(nearest.figures));
        }
    }
    const demand d = demand_of(s);
    const bool too_few_cpus = s.cpu_bound() && d.mean > static_cast<double>(how.cpus);
    return fmt::format(
        "Nothing that was tried meets the goal with several draws of the load; the nearest misses {}.{}",
        unmet.empty() ? "it with other draws" : unmet,
        too_few_cpus ? " The load computes more than the CPUs can do: no setting helps." : "");
}

}  // namespace

advice advise(const scenario& s, const goal& g, const std::vector<trial>& trials, const simulation& how) {
    std::vector<const trial*> order;
    order.reserve(trials.size());
    for (const trial& t : trials) {
        order.push_back(&t);
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const trial* a, const trial* b) { return cost(*a) < cost(*b); });
    const auto good = std::find_if(order.begin(), order.end(), [&](const trial* t) {
        return g.met(t->figures) && meets_with_other_draws(s, g, t->with, how);
    });
    advice a;
    a.own = {s.pool, summarise(simulate(s, how))};
    a.meets_goal = good != order.end();
    a.recommended =
        a.meets_goal ? **good : **std::min_element(order.begin(), order.end(), [&](auto* x, auto* y) {
            return g.distance(x->figures) < g.distance(y->figures);
        });
    a.why.push_back(about_load(s, how));
    if (!a.meets_goal) {
        a.why.push_back(about_failure(s, g, a.recommended, how));
    }
    a.why.push_back(about_own(g, a.own));
    if (a.meets_goal) {
        if (std::string fewer = about_fewer_threads(g, trials, a.recommended); !fewer.empty()) {
            a.why.push_back(std::move(fewer));
        }
        std::ranges::move(about_queue(g, trials, a.recommended), std::back_inserter(a.why));
        a.why.push_back(fmt::format("It holds for {} other draws of the same load, too.", other_draws));
    }
    return a;
}

}  // namespace spool::lab
