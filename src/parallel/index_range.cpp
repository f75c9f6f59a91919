#include "spool/parallel/detail/index_range.hpp"

#include <stdexcept>
#include <string>

namespace spool::inline v1::detail {

void throw_negative_index(const char* origin) {
    throw std::invalid_argument(std::string{origin} +
                                ": the first index is negative, and the common type of the indices unsigned");
}

}  // namespace spool::inline v1::detail
