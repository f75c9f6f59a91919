// expect: Spool needs run-time type information
// flags: -fno-rtti
#include <spool/spool.hpp>
