// detached_scope: lets a consumer of a work-stealing queue add behind the elements already queued.
#pragma once

#include "spool/base/export.hpp"

namespace spool::inline v1 {

namespace detail {
class attachment;
}

/// During its lifetime, its thread counts as attached to no queue (see
/// blocking_queue::attach_consumer). What the thread adds to a work_stealing_queue goes to the
/// inbox, behind the elements already there. Without the scope it would go to the thread's own
/// deque, whose newest element comes first.
///
///     const spool::detached_scope to_the_back;
///     pool.execute(std::move(rest));  // runs after what is queued already
///
/// Scopes nest. Each must end on the thread on which it began, in reverse order.
class SPOOL_API detached_scope {
public:
    detached_scope() noexcept;
    ~detached_scope();
    detached_scope(const detached_scope&) = delete;
    detached_scope& operator=(const detached_scope&) = delete;

private:
    detail::attachment* const hidden_;
};

}  // namespace spool::inline v1
