// compiles
// function_ref accepts a function by its name, and a callable whose result it drops.
#include <spool/base/function_ref.hpp>

int twice(int n) {
    return 2 * n;
}

int main() {
    int sum = 0;
    auto add = [&sum](int n) { return sum += n; };
    const spool::function_ref<void(int)> drops = add;
    drops(3);
    const spool::function_ref<int(int)> by_name = twice;
    return by_name(sum) == 6 ? 0 : 1;
}
