// Pages from the heap, where the system's own are not known.
#include <cstring>
#include <new>

#include "spool/queue/detail/pages.hpp"

namespace spool::inline v1::detail {
namespace {

constexpr std::align_val_t page{4096};

}  // namespace

void* allocate_pages(std::size_t bytes) {
    return std::memset(::operator new(bytes, page), 0, bytes);
}

void free_pages(void* at, std::size_t bytes) noexcept {
    ::operator delete(at, bytes, page);
}

}  // namespace spool::inline v1::detail
