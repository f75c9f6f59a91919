#include "pool/calls_under_way.hpp"

#include <cstdio>
#include <cstdlib>

namespace spool::inline v1 {

#if !defined(NDEBUG)

void calls_under_way::fail(const std::string& pool, std::size_t n) noexcept {
    std::fprintf(
        stderr,
        "spool: thread_pool_executor \"%s\" is destroyed while %zu call(s) of execute(), submit() or the "
        "like on other threads are under way. A task that destroys its pool must wait until the call "
        "that submitted it has returned.\n",
        pool.c_str(), n);
    std::abort();
}

#endif

}  // namespace spool::inline v1
