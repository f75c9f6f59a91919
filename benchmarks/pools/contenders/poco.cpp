#include "pools/contenders/poco.hpp"

#include "pools/contenders/add_pool.hpp"

namespace {

const bench::registration here{[] { bench::add_pool<bench::poco_pool>(); }};

}  // namespace
