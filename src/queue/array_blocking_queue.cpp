#include "spool/queue/array_blocking_queue.hpp"

namespace spool::inline v1 {

template class array_blocking_queue<task>;

}  // namespace spool::inline v1
