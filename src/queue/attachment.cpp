#include "spool/queue/detail/attachment.hpp"

#include <utility>

namespace spool::inline v1::detail {
namespace {

constinit thread_local attachment* innermost = nullptr;

}  // namespace

attachment* attachment::find(const void* queue) noexcept {
    attachment* place = innermost;
    while (place != nullptr && place->queue_ != queue) {
        place = place->outer_;
    }
    return place;
}

void attachment::enter(const void* queue) noexcept {
    queue_ = queue;
    outer_ = std::exchange(innermost, this);
}

void attachment::leave() noexcept {
    attachment** link = &innermost;
    while (*link != this) {
        link = &(*link)->outer_;
    }
    *link = std::exchange(outer_, nullptr);
    queue_ = nullptr;
}

}  // namespace spool::inline v1::detail
