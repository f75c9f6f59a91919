// The text of migrations/*.sql, in the order of their versions. CMake makes the source.
#pragma once

namespace spool::inline v1::remote::detail {

extern const char* const migrations[];

}  // namespace spool::inline v1::remote::detail
