#include "spool/queue/blocking_queue.hpp"

#include "spool/queue/array_blocking_queue.hpp"
#include "spool/queue/linked_blocking_queue.hpp"

#include <stdexcept>
#include <string>

#if __has_include(<cxxabi.h>)
#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#endif

namespace spool::inline v1 {

template class array_blocking_queue<task>;
template class linked_blocking_queue<task>;

namespace {

std::string readable_name(const std::type_info& type) {
    std::string name = type.name();
#if __has_include(<cxxabi.h>)
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> text{
        abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free};
    if (text != nullptr) {
        name = text.get();
    }
#endif
    const std::string inline_namespace = "spool::v1::";  // users write spool::
    for (std::size_t at = name.find(inline_namespace); at != std::string::npos;
         at = name.find(inline_namespace, at)) {
        name.replace(at, inline_namespace.size(), "spool::");
    }
    return name;
}

}  // namespace

void detail::throw_fixed_capacity(const std::type_info& kind, std::size_t capacity) {
    const bool limited = capacity != blocking_queue<task>::unlimited;
    throw std::logic_error(readable_name(kind) + "::set_capacity: the capacity of this kind is fixed (" +
                           (limited ? std::to_string(capacity) : "unlimited") + ")");
}

}  // namespace spool::inline v1
