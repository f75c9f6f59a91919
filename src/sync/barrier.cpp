#include "spool/sync/barrier.hpp"

#include "sync/process_fence.hpp"

namespace spool::inline v1 {
namespace {

constinit std::atomic<unsigned> fence_word{0};

}  // namespace

constinit std::atomic<bool> detail::heavy_barrier_reaches_all{false};

void detail::visible_fence() noexcept {
    fence_word.fetch_add(1);
}

void prepare_barriers() noexcept {
#if !defined(SPOOL_SYMMETRIC_BARRIERS)
    static const bool prepared = detail::prepare_process_fence();
    detail::heavy_barrier_reaches_all.store(prepared);
#endif
}

void heavy_barrier() noexcept {
    detail::visible_fence();  // this thread's own
    if (detail::heavy_barrier_reaches_all.load()) {
        detail::process_fence();
    }
}

}  // namespace spool::inline v1
