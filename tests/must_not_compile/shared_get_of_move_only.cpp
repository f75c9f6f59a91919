// expect: the result can only be moved: write std::move\(f\)\.get\(\)
// A move-only result has one owner: only std::move(f).get() gives it away.
#include <spool/spool.hpp>

#include <memory>

int main() {
    spool::direct_executor executor;
    auto result = spool::submit(executor, [] { return std::make_unique<int>(42); });
    return *result.get();
}
