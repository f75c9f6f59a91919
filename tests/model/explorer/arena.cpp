#include "model/explorer/arena.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

namespace model {
namespace {

constexpr std::uint64_t in_use = 0x11FE;
constexpr std::uint64_t freed = 0xDEAD;

}  // namespace

constinit allocation_mode allocating{};

void arena::reset() noexcept {
    for (std::size_t t = 0; t < most_threads; ++t) {
        std::memset(bytes_.data() + t * part, 0, used_[t]);
        used_[t] = 0;
    }
    live_ = 0;
}

void* arena::allocate(unsigned thread, std::size_t size, std::size_t alignment) {
    std::size_t& used = used_[thread];
    const std::size_t step = alignment < sizeof(header) ? sizeof(header) : alignment;
    const std::size_t at = (used + sizeof(header) + step - 1) / step * step;
    if (at + size > part) {
        std::abort();  // the model is too large
    }
    used = at + size;
    std::byte* const place = bytes_.data() + thread * part + at;
    ::new (place - sizeof(header)) header{in_use};
    ++live_;
    return place;
}

bool arena::free(void* at) noexcept {
    auto* const h = reinterpret_cast<header*>(static_cast<std::byte*>(at) - sizeof(header));
    if (h->state != in_use) {
        return false;
    }
    h->state = freed;
    --live_;
    return true;
}

namespace {

arena* home_of(const void* at) noexcept {
    static arena* known = nullptr;
    if (allocating.from != nullptr) {
        known = allocating.from;
    }
    return known != nullptr && known->holds(at) ? known : nullptr;
}

void* take(std::size_t size, std::size_t alignment) {
    if (allocating.from != nullptr) {
        return allocating.from->allocate(allocating.thread, size, alignment);
    }
    void* const at = alignment <= alignof(std::max_align_t)
                         ? std::malloc(size)
                         : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (at == nullptr) {
        throw std::bad_alloc{};
    }
    return at;
}

void give(void* at) noexcept {
    if (at == nullptr) {
        return;
    }
    arena* const home = home_of(at);
    if (home == nullptr) {
        std::free(at);
    } else if (!home->free(at)) {
        allocating.fault = "memory is freed twice";
    }
}

}  // namespace
}  // namespace model

void* operator new(std::size_t size) {
    return model::take(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    return model::take(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* at) noexcept {
    model::give(at);
}
void operator delete(void* at, std::size_t) noexcept {
    model::give(at);
}
void operator delete(void* at, std::align_val_t) noexcept {
    model::give(at);
}
void operator delete(void* at, std::size_t, std::align_val_t) noexcept {
    model::give(at);
}
