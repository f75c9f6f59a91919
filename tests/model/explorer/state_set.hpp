// state_set: the set of states that were seen, as 64-bit hashes.
#pragma once

#include <cstdint>
#include <vector>

namespace model {

class state_set {
public:
    /// False: the state was already in the set.
    bool insert(std::uint64_t state) {
        state = state == 0 ? 1 : state;
        if (2 * size_ >= slots_.size()) {
            grow();
        }
        if (!put(slots_, state)) {
            return false;
        }
        ++size_;
        return true;
    }
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

private:
    static bool put(std::vector<std::uint64_t>& slots, std::uint64_t state) {
        const std::size_t mask = slots.size() - 1;
        for (std::size_t i = state & mask;; i = (i + 1) & mask) {
            if (slots[i] == state) {
                return false;
            }
            if (slots[i] == 0) {
                slots[i] = state;
                return true;
            }
        }
    }
    void grow() {
        std::vector<std::uint64_t> larger(slots_.size() * 4);
        for (const std::uint64_t s : slots_) {
            if (s != 0) {
                put(larger, s);
            }
        }
        slots_ = std::move(larger);
    }

    std::vector<std::uint64_t> slots_ = std::vector<std::uint64_t>(4096);
    std::uint64_t size_ = 0;
};

}  // namespace model
