// Runs several contenders in interleaved repetitions and reports medians, spread and ratios.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

namespace bench {

struct contender {
    std::string name;
    std::function<double()> run;  // one repetition: millions of elements per second
    std::vector<double> figures{};

    [[nodiscard]] double median() const {
        std::vector<double> sorted = figures;
        std::sort(sorted.begin(), sorted.end());
        const std::size_t middle = sorted.size() / 2;
        return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }
};

/// Runs every contender once per repetition, in a new random order each time. One more repetition
/// before them is a warm-up.
inline void run_interleaved(std::vector<contender>& all, int repetitions, unsigned seed) {
    std::mt19937 random{seed};
    std::vector<contender*> order;
    for (contender& one : all) {
        order.push_back(&one);
    }
    for (int i = -1; i < repetitions; ++i) {
        std::shuffle(order.begin(), order.end(), random);
        for (contender* one : order) {
            const double figure = one->run();
            if (i >= 0) {
                one->figures.push_back(figure);
            }
        }
    }
}

inline void print_table(const std::string& title, const std::vector<contender>& all,
                        const std::string& base) {
    const auto reference =
        std::find_if(all.begin(), all.end(), [&](const contender& one) { return one.name == base; });
    fmt::print("\n{}\n\n| queue | median, M/s | min .. max | ratio to {} | n |\n|---|---:|---:|---:|---:|\n",
               title, base);
    for (const contender& one : all) {
        const auto [least, most] = std::minmax_element(one.figures.begin(), one.figures.end());
        fmt::print("| {} | {:.1f} | {:.1f} .. {:.1f} | {:.2f} | {} |\n", one.name, one.median(), *least,
                   *most, one.median() / reference->median(), one.figures.size());
    }
}

inline nlohmann::json to_json(const std::string& title, const std::vector<contender>& all) {
    nlohmann::json rows = nlohmann::json::array();
    for (const contender& one : all) {
        rows.push_back({{"name", one.name}, {"median", one.median()}, {"figures", one.figures}});
    }
    return {{"title", title}, {"unit", "million elements per second"}, {"contenders", rows}};
}

}  // namespace bench
