#include "spool/remote/connect.hpp"

#include "spool/remote/error.hpp"
#include "spool/remote/memory_broker.hpp"
#include "spool/remote/postgres_broker.hpp"
#include "spool/remote/sqlite_broker.hpp"

namespace spool::inline v1::remote {

std::shared_ptr<broker> connect(std::string_view address) {
    const std::size_t colon = address.find(':');
    const std::string kind{address.substr(0, colon)};
    const std::string place{colon == std::string_view::npos ? std::string_view{} : address.substr(colon + 1)};
    if (colon != std::string_view::npos && kind == "memory" && place.empty()) {
        return memory();
    }
    if (kind == "sqlite" && !place.empty()) {
        return sqlite(place);
    }
    if (kind == "postgres") {
        return postgres(place);
    }
    throw broker_error(broker_failure::misuse,
                       "a broker's address is \"sqlite:FILE\", \"postgres:CONNECTION\" or \"memory:\"; this "
                       "one begins with \"" +
                           kind.substr(0, 20) + "\"");
}

}  // namespace spool::inline v1::remote
