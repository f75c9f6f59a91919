// expect: Spool needs C\+\+20
// flags: -std=c++17
#include <spool/spool.hpp>
