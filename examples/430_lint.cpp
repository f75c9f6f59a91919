// lint() finds settings that will not do what they seem to say, before a pool is built.
// prints: warning maximum-never-reached: .*\n    Bound the queue.*\nwarning more-threads-than-cpus: .*\n(.*\n)*2 finding\(s\)\n
#include <chrono>
#include <cstdio>

#include <spool/spool.hpp>

using namespace std::chrono_literals;

int main() {
    // [lint]
    const spool::pool_options options{.name = "thumbnails", .core_size = 8, .maximum_size = 32};
    const spool::workload_hint load{.deadline = 500ms, .cpu_bound = true, .cpus = 4};

    const auto findings = spool::lint(options, load);  // starts no thread
    for (const spool::lint_finding& f : findings) {
        std::printf("%s %s: %s\n    %s\n", spool::to_string(f.severity).data(), f.id.c_str(),
                    f.what_happens.c_str(), f.what_to_do.c_str());
    }
    // [/lint]
    std::printf("%zu finding(s)\n", findings.size());
}
