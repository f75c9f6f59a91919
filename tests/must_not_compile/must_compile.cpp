// compiles
// The control: if this does not compile, the other snippets fail for the wrong reason.
#include <spool/spool.hpp>

int main() {
    spool::direct_executor executor;
    auto answer = spool::submit(executor, [] { return 6 * 7; });
    return answer.get() == 42 ? 0 : 1;
}
