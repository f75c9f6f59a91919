// connect: a broker by its address, for programs that take it from a setting.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "spool/remote/broker.hpp"

namespace spool::inline v1::remote {

/// Opens the broker of an address: `sqlite:FILE`, `postgres:CONNECTION` (empty: by libpq's
/// environment) or `memory:`.
/// \throws broker_error; misuse for an address that names no broker. The text has the kind only: an
/// address may have a password.
[[nodiscard]] SPOOL_API std::shared_ptr<broker> connect(std::string_view address);

}  // namespace spool::inline v1::remote
