#include "pools/contenders/timers_asio.hpp"

#include "pools/contenders/add_timers.hpp"

namespace {

const bench::registration here{
    [] { bench::add_timers<bench::asio_timers>("asio", "Boost.Asio steady_timer, thread_pool(1)"); }};

}  // namespace
