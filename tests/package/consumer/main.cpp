// What a user's first program looks like; the package tests build it in every supported way.
#include <spool/spool.hpp>

int main() {
    spool::direct_executor executor;
    auto answer = spool::submit(executor, [] { return 6 * 7; });
    return answer.get() == 42 ? 0 : 1;
}
