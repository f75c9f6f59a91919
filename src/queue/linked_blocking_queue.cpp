#include "spool/queue/linked_blocking_queue.hpp"

namespace spool::inline v1 {

template class linked_blocking_queue<task>;

}  // namespace spool::inline v1
