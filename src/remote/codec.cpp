#include "spool/remote/codec.hpp"

#include <algorithm>
#include <string_view>

namespace spool::inline v1::remote {
namespace {

[[noreturn]] void fail(std::size_t offset, const std::string& reason) {
    throw codec_error("CBOR at byte " + std::to_string(offset) + ": " + reason);
}

enum major : unsigned { unsigned_int, negative_int, byte_string, text_string, array, map, tag, simple };

// A container that is not complete yet.
struct open_item {
    std::uint64_t left;  // items to come: for a map, keys and values together
    bool is_map;
    std::size_t first_key;  // of this map, in scanner::keys_
};

/// Reads heads one by one; nesting lives in `open_`, never on the thread's stack.
class scanner {
public:
    scanner(std::span<const std::uint8_t> data, const codec_limits& limits) : data_(data), limits_(limits) {}

    void run() {
        do {
            item();
            close_complete();
        } while (!open_.empty());
        if (at_ != data_.size()) {
            fail(at_, std::to_string(data_.size() - at_) + " byte(s) behind the value");
        }
    }

private:
    [[nodiscard]] std::size_t left() const noexcept { return data_.size() - at_; }
    [[nodiscard]] bool expects_key() const noexcept {
        return !open_.empty() && open_.back().is_map && open_.back().left % 2 == 0;
    }

    std::uint64_t argument(unsigned info, std::size_t start) {
        if (info < 24) {
            return info;
        }
        if (info > 27) {
            fail(start, info == 31 ? "an indefinite length" : "a reserved head");
        }
        const std::size_t width = std::size_t{1} << (info - 24U);
        if (left() < width) {
            fail(start, "the value ends in its head");
        }
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < width; ++i) {
            value = value << 8U | data_[at_++];
        }
        return value;
    }

    void skip(std::uint64_t length, std::size_t start) {
        if (length > left()) {
            fail(start, "a length of " + std::to_string(length) + " with " + std::to_string(left()) +
                            " byte(s) left");
        }
        at_ += static_cast<std::size_t>(length);
    }

    void open(std::uint64_t items, bool is_map, std::size_t start) {
        // Each item needs a byte, so a greater claim is false; and twice of it cannot overflow.
        if (items > left()) {
            fail(start, std::to_string(items) + " items with " + std::to_string(left()) + " byte(s) left");
        }
        if (open_.size() >= limits_.depth) {
            fail(start, "deeper than " + std::to_string(limits_.depth) + " levels");
        }
        open_.push_back({is_map ? 2 * items : items, is_map, keys_.size()});
    }

    void key(std::string_view text, std::size_t start) {
        const auto mine = keys_.begin() + static_cast<std::ptrdiff_t>(open_.back().first_key);
        const auto place = std::lower_bound(mine, keys_.end(), text);
        if (place != keys_.end() && *place == text) {
            fail(start, "a key occurs twice");
        }
        keys_.insert(place, text);
    }

    void item() {
        const std::size_t start = at_;
        if (left() == 0) {
            fail(start, "the value ends too early");
        }
        const unsigned head = data_[at_++];
        const unsigned kind = head >> 5U;
        const bool is_key = expects_key();
        if (!open_.empty()) {
            --open_.back().left;
        }
        if (is_key && kind != text_string) {
            fail(start, "a key that is no text");
        }
        switch (kind) {
            case unsigned_int:
            case negative_int: {
                const std::uint64_t value = argument(head & 31U, start);
                if (kind == negative_int && value > static_cast<std::uint64_t>(INT64_MAX)) {
                    fail(start, "a negative number out of range");
                }
                return;
            }
            case byte_string: return skip(argument(head & 31U, start), start);
            case text_string: {
                const std::uint64_t length = argument(head & 31U, start);
                const auto* const text = reinterpret_cast<const char*>(data_.data()) + at_;
                skip(length, start);
                if (is_key) {
                    key({text, static_cast<std::size_t>(length)}, start);
                }
                return;
            }
            case array: return open(argument(head & 31U, start), false, start);
            case map: return open(argument(head & 31U, start), true, start);
            case tag: fail(start, "a tag");
            default: break;
        }
        switch (head & 31U) {
            case 20:
            case 21:
            case 22: return;  // false, true, null
            case 25: return skip(2, start);
            case 26: return skip(4, start);
            case 27: return skip(8, start);
            default: fail(start, "a simple value that does not travel");
        }
    }

    void close_complete() {
        while (!open_.empty() && open_.back().left == 0) {
            keys_.resize(open_.back().first_key);
            open_.pop_back();
        }
    }

    std::span<const std::uint8_t> data_;
    codec_limits limits_;
    std::size_t at_ = 0;
    std::vector<open_item> open_;
    std::vector<std::string_view> keys_;  // of all open maps; those of each map are sorted
};

}  // namespace

void check_cbor(std::span<const std::uint8_t> data, const codec_limits& limits) {
    if (data.size() > limits.size) {
        throw codec_error("CBOR of " + std::to_string(data.size()) + " bytes: the limit is " +
                          std::to_string(limits.size));
    }
    scanner{data, limits}.run();
}

namespace detail {

json parse_cbor(std::span<const std::uint8_t> data, const codec_limits& limits) {
    check_cbor(data, limits);
    try {
        return json::from_cbor(data.begin(), data.end());
    } catch (const json::exception& e) {
        throw codec_error(e.what());
    }
}

void throw_wrong_type(const char* wanted, const json& value) {
    throw codec_error(std::string("expected ") + wanted + ", found " + value.type_name());
}

}  // namespace detail
}  // namespace spool::inline v1::remote
