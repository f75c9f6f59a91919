// expect: (conversion from|no viable conversion from)[^\n]*task
// A task is called without arguments or with its stop token; no caller could supply an int.
#include <spool/base/task.hpp>

int main() {
    spool::task work = [](int n) { return n + 1; };
    work();
}
