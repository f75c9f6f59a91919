#include "pools/contenders/glib.hpp"

#include "pools/contenders/add_pool.hpp"

namespace {

const bench::registration here{[] { bench::add_pool<bench::glib_pool>(); }};

}  // namespace
