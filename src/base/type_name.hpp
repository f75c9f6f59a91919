// The name of a type as a user would write it.
#pragma once

#include <string>

#include "spool/base/export.hpp"

namespace spool::inline v1::detail {

/// `mangled`: std::type_info::name().
[[nodiscard]] std::string readable_type_name(const char* mangled);

}  // namespace spool::inline v1::detail
