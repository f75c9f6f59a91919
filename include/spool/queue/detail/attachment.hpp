// attachment: how a thread finds its own store of a queue.
#pragma once

#include "spool/base/export.hpp"

namespace spool::inline v1::detail {

/// One thread's place at one queue. The places of a thread form a stack, innermost first, so that it may be attached to
/// several queues, or to one of them twice: a pool's worker may run the worker of another pool. Only that thread
/// ever touches the stack. It is empty before the first attachment and needs no destructor, so it works at any time
/// in a thread's life.
class SPOOL_API attachment {
public:
    attachment() = default;
    attachment(const attachment&) = delete;
    attachment& operator=(const attachment&) = delete;

    /// The calling thread's innermost place at `queue`, or null.
    [[nodiscard]] static attachment* find(const void* queue) noexcept {
        attachment* place = innermost_;
        while (place != nullptr && place->queue_ != queue) {
            place = place->outer_;
        }
        return place;
    }

    void enter(const void* queue) noexcept;
    /// On the thread that entered; not necessarily in the reverse order.
    void leave() noexcept;

    /// For detached_scope: takes the thread's stack away, and puts it back below what has been
    /// entered meanwhile.
    [[nodiscard]] static attachment* hide_all() noexcept;
    static void show_again(attachment* hidden) noexcept;

protected:
    ~attachment() = default;

private:
    static constinit thread_local attachment*
        innermost_;  // not inline: there must be one for all that is linked

    const void* queue_ = nullptr;
    attachment* outer_ = nullptr;
};

}  // namespace spool::inline v1::detail
