// dice: the source of every random choice of a round. Equal seeds give equal choices on every
// machine.
#pragma once

#include <cstddef>
#include <cstdint>

namespace soak {

class dice {
public:
    explicit dice(std::uint64_t seed) : state_(seed) {}

    /// splitmix64
    std::uint64_t operator()() {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31U);
    }
    std::size_t below(std::size_t n) { return static_cast<std::size_t>((*this)() % n); }
    bool one_in(std::size_t n) { return below(n) == 0; }

private:
    std::uint64_t state_;
};

}  // namespace soak
