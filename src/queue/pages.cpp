#include "spool/queue/detail/pages.hpp"

#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#else
#include <cstring>
#endif

namespace spool::inline v1::detail {

#if defined(__linux__)

void* allocate_pages(std::size_t bytes) {
    void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
        throw std::bad_alloc{};
    }
    return at;
}
void free_pages(void* at, std::size_t bytes) noexcept {
    ::munmap(at, bytes);
}
void discard_pages(void* at, std::size_t bytes) noexcept {
    ::madvise(at, bytes, MADV_DONTNEED);
}

#else  // from the heap

void* allocate_pages(std::size_t bytes) {
    return std::memset(::operator new (bytes, std::align_val_t{page_size}), 0, bytes);
}
void free_pages(void* at, std::size_t bytes) noexcept {
    ::operator delete (at, bytes, std::align_val_t{page_size});
}
void discard_pages(void*, std::size_t) noexcept {}

#endif

}  // namespace spool::inline v1::detail
