// Pages from the kernel.
#include <sys/mman.h>

#include <new>

#include "spool/queue/detail/pages.hpp"

namespace spool::inline v1::detail {

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

}  // namespace spool::inline v1::detail
