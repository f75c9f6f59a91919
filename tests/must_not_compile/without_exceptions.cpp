// expect: Spool needs exceptions
// flags: -fno-exceptions
#include <spool/spool.hpp>
