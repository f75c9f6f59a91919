// expect: (use of deleted function|call to (implicitly-)?deleted)[^\n]*task
// A task owns its callable, which may be move-only.
#include <spool/base/task.hpp>

int main() {
    spool::task original = [] {};
    spool::task copy = original;
    copy();
}
