// Limits of a wait that are already over.
#pragma once

#include <chrono>
#include <stop_token>

#include "spool/base/deadline.hpp"

namespace test {

inline std::stop_token stopped_token() {
    std::stop_source source;
    source.request_stop();
    return source.get_token();
}

inline spool::deadline past_deadline() {
    return spool::deadline::after(std::chrono::seconds{-1});
}

}  // namespace test
