#include "pools/contenders/eigen.hpp"

#include "pools/contenders/add_pool.hpp"

namespace {

const bench::registration here{[] { bench::add_pool<bench::eigen_pool>(); }};

}  // namespace
