#include "spool/base/clock_source.hpp"

namespace spool::inline v1 {

clock_source::~clock_source() = default;

}  // namespace spool::inline v1
