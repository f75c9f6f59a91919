#include "spool/queue/detail/attachment.hpp"

#include <utility>

#include "spool/queue/detached_scope.hpp"

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

attachment* attachment::hide_all() noexcept {
    return std::exchange(innermost_, nullptr);
}

void attachment::restore(attachment* hidden) noexcept {
    attachment** link = &innermost_;
    while (*link != nullptr) {
        link = &(*link)->outer_;
    }
    *link = hidden;
}

}  // namespace spool::inline v1::detail

namespace spool::inline v1 {

detached_scope::detached_scope() noexcept : hidden_(detail::attachment::hide_all()) {}
detached_scope::~detached_scope() {
    detail::attachment::restore(hidden_);
}

}  // namespace spool::inline v1
