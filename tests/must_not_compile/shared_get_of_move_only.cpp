// expect: (passing '[^\n]*future<[^\n]*unique_ptr<int|no matching (member )?function|constraints not satisfied)
// A move-only result has one owner: only std::move(f).get() gives it away.
#include <spool/spool.hpp>

#include <memory>

int main() {
    spool::direct_executor executor;
    auto result = spool::submit(executor, [] { return std::make_unique<int>(42); });
    return *result.get();
}
