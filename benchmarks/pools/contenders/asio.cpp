#include "pools/contenders/asio.hpp"

#include "pools/contenders/add_pool.hpp"

namespace {

const bench::registration here{[] { bench::add_pool<bench::asio_pool>(); }};

}  // namespace
