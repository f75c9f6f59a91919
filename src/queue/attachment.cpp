#include "spool/queue/detail/attachment.hpp"

#include <utility>

namespace spool::inline v1::detail {

constinit thread_local attachment* attachment::innermost_ = nullptr;

void attachment::enter(const void* queue) noexcept {
    queue_ = queue;
    outer_ = std::exchange(innermost_, this);
}

void attachment::leave() noexcept {
    attachment** link = &innermost_;
    while (*link != this) {
        link = &(*link)->outer_;
    }
    *link = std::exchange(outer_, nullptr);
    queue_ = nullptr;
}

}  // namespace spool::inline v1::detail
