// A libFuzzer target: the scan refuses the bytes, or the decoder reads them; and what
// was read can be written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "spool/remote/codec.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace spool::remote;
    const std::span<const std::uint8_t> input{data, size};
    try {
        check_cbor(input);
    } catch (const codec_error&) {
        return 0;
    }
    // The scan has accepted: from here on only a wrong type may be refused.
    const nlohmann::json value = nlohmann::json::from_cbor(input.begin(), input.end());
    const bytes again = nlohmann::json::to_cbor(value);
    check_cbor(again, {.size = 16 * size + 64});
    const auto try_decode = [&]<class T>(T*) {
        try {
            static_cast<void>(decode<T>(input));
        } catch (const codec_error&) {}
    };
    try_decode(static_cast<int*>(nullptr));
    try_decode(static_cast<std::uint8_t*>(nullptr));
    try_decode(static_cast<double*>(nullptr));
    try_decode(static_cast<std::string*>(nullptr));
    try_decode(static_cast<std::vector<std::string>*>(nullptr));
    try_decode(static_cast<bytes*>(nullptr));
    try_decode(static_cast<std::map<std::string, int>*>(nullptr));
    return 0;
}
