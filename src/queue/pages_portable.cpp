// Pages from the heap, for systems whose page allocation the library does not know.
#include <cstring>
#include <new>

#include "spool/queue/detail/pages.hpp"

namespace spool::inline v1::detail {

void* allocate_pages(std::size_t bytes) {
    return std::memset(::operator new (bytes, std::align_val_t{page_size}), 0, bytes);
}

void free_pages(void* at, std::size_t bytes) noexcept {
    ::operator delete (at, bytes, std::align_val_t{page_size});
}

void discard_pages(void*, std::size_t) noexcept {}

}  // namespace spool::inline v1::detail
