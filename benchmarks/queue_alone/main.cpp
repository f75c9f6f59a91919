// The queues without a pool: elements per second, compared with other queues.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "queue_alone/contenders.hpp"
#include "queue_alone/exchange.hpp"
#include "support/results.hpp"

namespace {

template <class T>
std::vector<bench::contender> contenders(const bench::shape& s) {
    std::vector<bench::contender> all{
        {"spool::linked_blocking_queue", [s] { return bench::exchange<bench::linked_queue<T>, T>(s); }},
        {"spool::array_blocking_queue", [s] { return bench::exchange<bench::array_queue<T>, T>(s); }},
        {"std::mutex + std::deque", [s] { return bench::exchange<bench::mutex_and_deque<T>, T>(s); }},
    };
#if defined(SPOOL_BENCH_TBB)
    all.push_back({"tbb::concurrent_queue", [s] { return bench::exchange<bench::tbb_queue<T>, T>(s); }});
#endif
#if defined(SPOOL_BENCH_MOODYCAMEL)
    all.push_back(
        {"moodycamel::ConcurrentQueue", [s] { return bench::exchange<bench::moodycamel_queue<T>, T>(s); }});
#endif
    return all;
}

template <class T>
nlohmann::json measure(const std::string& element, const bench::shape& s, int repetitions) {
    const std::string title = fmt::format("{} producer(s) -> {} consumer(s), {} elements: {}", s.producers,
                                          s.consumers, s.elements, element);
    std::vector<bench::contender> all = contenders<T>(s);
    bench::run_interleaved(all, repetitions, static_cast<unsigned>(s.producers));
    bench::print_table(title, all, "std::mutex + std::deque");
    return bench::to_json(title, all);
}

void run(int repetitions, std::size_t elements, const std::string& json_file) {
    nlohmann::json tables = nlohmann::json::array();
    for (const std::size_t threads : {1U, 4U}) {
        const bench::shape s{threads, threads, elements / threads * threads};
        tables.push_back(measure<spool::task>("spool::task, 24 bytes captured", s, repetitions));
        tables.push_back(measure<bench::plain_element>("a struct of 56 bytes", s, repetitions));
    }
    if (!json_file.empty()) {
        std::ofstream{json_file} << tables.dump(2) << '\n';
    }
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"How many elements per second go through a queue, beside other queues"};
    int repetitions = 7;
    std::size_t elements = 2'000'000;
    std::string json_file;
    app.add_option("--repetitions", repetitions, "of each contender, interleaved")
        ->check(CLI::Range(1, 1000));
    app.add_option("--elements", elements, "per repetition")->check(CLI::Range(1000, 1'000'000'000));
    app.add_option("--json", json_file, "where to write the figures");
    CLI11_PARSE(app, argc, argv);
    try {
        run(repetitions, elements, json_file);
    } catch (const std::exception& e) {
        fmt::print(stderr, "error: {}\n", e.what());
        return 1;
    }
}
