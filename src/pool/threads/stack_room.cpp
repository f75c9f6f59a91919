#include "pool/threads/stack_room.hpp"

#if defined(__linux__)
#include <pthread.h>
#endif

namespace spool::inline v1 {

stack_room stack_room::of_this_thread() noexcept {
#if defined(__linux__)
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
        return {};
    }
    void* low = nullptr;
    std::size_t size = 0;
    const bool known = pthread_attr_getstack(&attributes, &low, &size) == 0 && low != nullptr;
    pthread_attr_destroy(&attributes);
    // The system's bounds include the thread-local storage, which lies above the first frame. That
    // of a sanitizer alone may be larger than the rest. So the caller's frame is the high end.
    const auto begin = reinterpret_cast<std::uintptr_t>(low);
    const std::uintptr_t here = address_here();
    if (known && here - begin < size) {
        return stack_room{begin, here + 1};
    }
#endif
    return {};
}

}  // namespace spool::inline v1
