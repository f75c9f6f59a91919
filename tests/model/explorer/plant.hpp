// plant: a fault on purpose, in the text of the product as it runs in a model, without a copy of it: the operations on one line of it
// behave otherwise.
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
    drop,    ///< a store, an update, a wake or a fence is left out
    no_look,  ///< a load answers what this thread last saw there, a compare-exchange that fails what was expected
    pretend,   ///< a load answers `value`
    count_up,  ///< likewise, and one more each time
};

struct plant {
    harm what = harm::none;
    std::string_view file{};  ///< the end of its name
    std::string_view line{};  ///< what the line contains
    std::uint64_t value = 0;
};

/// A line of a file of the product, as it was compiled; empty if it is none of them.
[[nodiscard]] std::string_view source_line(std::string_view file, unsigned line);

}  // namespace model
