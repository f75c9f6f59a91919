// The machine without a pool, for the ceilings.
#include "pools/support/registry.hpp"
#include "pools/workloads/w13_ceilings.hpp"

namespace {

const bench::registration here{[] {
    bench::measurements().push_back(
        {"W13", "machine", "this machine", true, 10'000'000, bench::w13_ceilings});
}};

}  // namespace
