// expect: (deleted function|explicitly deleted)
// A stop token from outside comes first; after the callable comes a value.
#include <spool/spool.hpp>

#include <stop_token>

int main() {
    spool::direct_executor executor;
    std::stop_source source;
    auto result = spool::submit(
        executor, [] { return 42; }, source.get_token());
    return 0;
}
