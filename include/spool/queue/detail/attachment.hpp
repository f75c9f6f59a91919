// attachment: how a thread finds its own store of a queue.
#pragma once

#include "spool/base/export.hpp"

namespace spool::inline v1::detail {

/// The attachment of one thread to one queue. A thread's attachments form a stack, innermost first,
/// so that a thread may be attached to several queues, or to one queue twice: a worker of one pool
/// may run the worker of another. Only that thread touches the stack. The stack is empty before the
/// first attachment and needs no destructor, so it works at any time in a thread's life.
class SPOOL_API attachment {
public:
    attachment() = default;
    attachment(const attachment&) = delete;
    attachment& operator=(const attachment&) = delete;

    /// Returns the calling thread's innermost attachment to `queue`, or null.
    [[nodiscard]] static attachment* find(const void* queue) noexcept {
        attachment* found = innermost_;
        while (found != nullptr && found->queue_ != queue) {
            found = found->outer_;
        }
        return found;
    }

    void enter(const void* queue) noexcept;
    /// Must run on the thread that entered. Attachments may leave in any order.
    void leave() noexcept;

    /// For detached_scope: hide_all() takes the thread's stack away. restore() puts it back
    /// below what the thread has entered since.
    [[nodiscard]] static attachment* hide_all() noexcept;
    static void restore(attachment* hidden) noexcept;

protected:
    ~attachment() = default;

private:
    // Not inline: all linked binaries must share one.
    static constinit thread_local attachment* innermost_;

    const void* queue_ = nullptr;
    attachment* outer_ = nullptr;
};

}  // namespace spool::inline v1::detail
