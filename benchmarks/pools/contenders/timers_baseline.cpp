#include "pools/contenders/timers_baseline.hpp"

#include "pools/contenders/add_timers.hpp"

namespace {

const bench::registration here{
    [] { bench::add_timers<bench::baseline_timers>("baseline", "mutex + condition variable + std::map"); }};

}  // namespace
