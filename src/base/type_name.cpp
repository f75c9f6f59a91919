#include "base/type_name.hpp"

#if __has_include(<cxxabi.h>)
#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#endif

namespace spool::inline v1::detail {

std::string readable_type_name(const char* mangled) {
    std::string name = mangled;
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

}  // namespace spool::inline v1::detail
