// parallel_invoke: a few different functions at once.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>

#include "spool/parallel/detail/loop.hpp"
#include "spool/parallel/options.hpp"

namespace spool::inline v1 {

/// Calls each function once, on the workers of the pool and on this thread, and drops the results.
///
///     spool::parallel_invoke(pool, [&] { left = build(a); }, [&] { right = build(b); });
///
/// A function must not wait for another one of them: one thread may have to run all. After an
/// exception, functions that have not begun never do. See parallel_for for the rest.
template <std::invocable... Fs>
    requires(sizeof...(Fs) > 0)
void parallel_invoke(thread_pool_executor& pool, const stop_options& options, Fs&&... fs) {
    const std::array<function_ref<void()>, sizeof...(Fs)> all{function_ref<void()>{fs}...};
    detail::run_loop(pool, {all.size(), 0, all.size(), options.stop, "parallel_invoke"},
                     [&all](std::size_t from, std::size_t to, std::size_t) {
                         for (std::size_t i = from; i < to; ++i) {
                             all[i]();
                         }
                     });
}
template <std::invocable... Fs>
    requires(sizeof...(Fs) > 0)
void parallel_invoke(thread_pool_executor& pool, Fs&&... fs) {
    parallel_invoke(pool, stop_options{}, fs...);
}

}  // namespace spool::inline v1
