// One measurement per process: runs one workload with one contender and prints the figures as one
// line of JSON. scripts/bench_run.py starts these processes; to run one by hand:
//
//     spool-bench-pools --list
//     spool-bench-pools --workload W1 --contender spool-fixed-linked --size 100000
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <exception>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "pools/support/registry.hpp"

namespace {

nlohmann::ordered_json describe(const bench::measurement& one, std::size_t size) {
    return {{"workload", one.workload},
            {"contender", one.contender},
            {"label", one.label},
            {"hands_over", one.hands_over},
            {"size", size}};
}

const bench::measurement& find(const std::string& workload, const std::string& contender) {
    const auto& all = bench::measurements();
    const auto found = std::find_if(all.begin(), all.end(), [&](const bench::measurement& one) {
        return one.workload == workload && one.contender == contender;
    });
    if (found == all.end()) {
        throw std::invalid_argument(
            fmt::format("no contender '{}' in workload '{}' here: see --list", contender, workload));
    }
    return *found;
}

void run(const bench::measurement& one, std::size_t size) {
    nlohmann::ordered_json line = describe(one, size);
    nlohmann::ordered_json found;
    for (const auto& [name, value] : one.run(size)) {
        found[name] = value;
    }
    line["figures"] = std::move(found);
    fmt::print("{}\n", line.dump());
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Measures one contender in one workload; scripts/bench runs them all"};
    bool list = false;
    std::string workload;
    std::string contender;
    std::size_t size = 0;
    app.add_flag("--list", list, "one line of JSON for each measurement that can be made");
    app.add_option("--workload", workload, "W1, W1x1, W2 ... as in docs/performance.md");
    app.add_option("--contender", contender, "spool-fixed-linked, baseline ...");
    app.add_option("--size", size, "number of tasks, trips or timers, or a depth: what the workload counts");
    CLI11_PARSE(app, argc, argv);
    try {
        if (list) {
            for (const bench::measurement& one : bench::measurements()) {
                fmt::print("{}\n", describe(one, one.usual_size).dump());
            }
            return 0;
        }
        const bench::measurement& one = find(workload, contender);
        run(one, size == 0 ? one.usual_size : size);
    } catch (const std::exception& e) {
        fmt::print(stderr, "error: {}\n", e.what());
        return 1;
    }
}
