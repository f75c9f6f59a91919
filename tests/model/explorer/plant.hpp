// plant: a fault on purpose in the product's own source text, without a copy of it. While a model
// runs that text, the operations on one source line behave differently.
#pragma once

#include <atomic>
#include <cstdint>
#include <source_location>
#include <string_view>

namespace model {

enum class harm {
    none,
    relax,   ///< the operation is relaxed
    soften,  ///< the operation is acquire, release or both instead of seq_cst
    drop,    ///< a store, an update, a wake-up or a fence is left out
    /// A load returns what its thread last read from the word. A failed compare-exchange leaves
    /// `expected` as it was.
    no_look,
    pretend,   ///< a load returns `value`
    count_up,  ///< a load returns `value`, and one more each time
};

struct plant {
    harm what = harm::none;
    std::string_view file{};  ///< the end of the file's name
    std::string_view line{};  ///< a text that the line contains
    std::uint64_t value = 0;
};

/// A line of an embedded source file, as it was compiled; empty if the file is not embedded.
[[nodiscard]] std::string_view source_line(std::string_view file, unsigned line);

}  // namespace model
