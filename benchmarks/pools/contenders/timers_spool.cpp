// Registers the scheduled pool if the library has one.
#if __has_include("spool/schedule/scheduled_thread_pool_executor.hpp")
#include "pools/contenders/timers_spool.hpp"

#include "pools/contenders/add_timers.hpp"

namespace {

const bench::registration here{
    [] { bench::add_timers<bench::spool_timers>("spool-scheduled", "Spool scheduled, 1 worker"); }};

}  // namespace
#endif
