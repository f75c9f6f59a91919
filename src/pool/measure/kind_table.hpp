// kind_table: how often tasks of each kind ran, and for how long.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "spool/base/task.hpp"
#include "spool/pool/pool_reading.hpp"

namespace spool::inline v1 {

/// What a kind is known by: the name that named() gave, or the mangled name of the callable's type.
/// Points to static storage.
struct kind_key {
    const char* text = nullptr;
    bool is_type = false;
};
[[nodiscard]] kind_key kind_of(const task& work) noexcept;
[[nodiscard]] std::string readable_kind(kind_key key);

/// At most 32 kinds; the tasks of all further ones count as "other". No lock: a kind gets its entry
/// once and keeps it.
class kind_table {
public:
    static constexpr std::size_t most = 32;
    static constexpr std::uint32_t other = most;

    /// The entry of the kind; `other` if there is none left.
    [[nodiscard]] std::uint32_t find(kind_key key) noexcept;
    void add(std::uint32_t entry, std::chrono::nanoseconds run, std::uint64_t weight) noexcept;
    [[nodiscard]] std::string name(std::uint32_t entry) const;
    /// Kinds of one name are summed up: a type has one name per shared library.
    [[nodiscard]] std::vector<kind_reading> read() const;

private:
    enum class use : std::uint8_t { free, claimed, ready };
    struct entry {
        std::atomic<use> state{use::free};
        std::atomic<const char*> text{nullptr};
        std::atomic<bool> is_type{false};
        std::atomic<std::uint64_t> tasks{0};
        std::atomic<std::uint64_t> run{0};  // ns
    };

    std::array<entry, most + 1> entries_;
};

}  // namespace spool::inline v1
