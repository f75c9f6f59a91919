// expect: (deleted function|explicitly deleted)
// A caller's stop token must be the first argument; the argument after the callable is a value.
#include <spool/spool.hpp>

#include <stop_token>

int main() {
    spool::direct_executor executor;
    std::stop_source source;
    auto result = spool::submit(
        executor, [] { return 42; }, source.get_token());
    return 0;
}
