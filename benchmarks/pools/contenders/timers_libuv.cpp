#include "pools/contenders/timers_libuv.hpp"

#include "pools/contenders/add_timers.hpp"

namespace {

const bench::registration here{[] { bench::add_timers<bench::libuv_timers>("libuv", "libuv uv_timer"); }};

}  // namespace
