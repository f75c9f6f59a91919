// Foreign bytes: what travels, and what is refused before it is decoded.
#include <map>
#include <optional>
#include <random>

#include "remote/support/site.hpp"
#include "spool/remote/codec.hpp"
#include "spool/remote/function.hpp"
#include "support/throws.hpp"

namespace codec_types {
struct point {
    int x = 0;
    int y = 0;
    friend bool operator==(const point&, const point&) = default;
};
void to_json(nlohmann::json& j, const point& p) {
    j = nlohmann::json{{"x", p.x}, {"y", p.y}};
}
void from_json(const nlohmann::json& j, point& p) {
    j.at("x").get_to(p.x);
    j.at("y").get_to(p.y);
}
}  // namespace codec_types

namespace {

using namespace spool::remote;
using codec_types::point;

template <class T>
T there_and_back(const T& value) {
    return decode<T>(encode(value));
}

std::string refusal(const bytes& data, const codec_limits& limits = {}) {
    return test::what_of<codec_error>([&] { check_cbor(data, limits); });
}

TEST(remote_codec, values_come_back_as_they_went) {
    EXPECT_EQ(there_and_back(-42), -42);
    EXPECT_EQ(there_and_back(UINT64_MAX), UINT64_MAX);
    EXPECT_EQ(there_and_back(INT64_MIN), INT64_MIN);
    EXPECT_EQ(there_and_back(true), true);
    EXPECT_EQ(there_and_back(2.5), 2.5);
    EXPECT_EQ(there_and_back(std::string("a\0\xff", 3)), std::string("a\0\xff", 3));
    EXPECT_EQ(there_and_back(std::vector<int>{1, 2, 3}), (std::vector<int>{1, 2, 3}));
    EXPECT_EQ(there_and_back(bytes{0, 255, 7}), (bytes{0, 255, 7}));
    EXPECT_EQ(there_and_back(point{1, 2}), (point{1, 2}));
    EXPECT_EQ(there_and_back(std::optional<int>{}), std::nullopt);
    EXPECT_EQ(there_and_back(std::optional<int>{5}), 5);
    EXPECT_EQ(there_and_back(std::map<std::string, int>{{"a", 1}}), (std::map<std::string, int>{{"a", 1}}));
}

TEST(remote_codec, a_number_out_of_range_is_an_error_and_no_other_number) {
    EXPECT_THROW(static_cast<void>(decode<int>(encode(std::int64_t{1} << 40U))), codec_error);
    EXPECT_THROW(static_cast<void>(decode<unsigned>(encode(-1))), codec_error);
    EXPECT_THROW(static_cast<void>(decode<std::vector<std::uint16_t>>(encode(std::vector<int>{70'000}))),
                 codec_error);
    EXPECT_THROW(static_cast<void>(decode<int>(encode(1.5))), codec_error);
    EXPECT_THROW(static_cast<void>(decode<int>(encode(std::string("1")))), codec_error);
    EXPECT_THROW(static_cast<void>(decode<point>(encode(std::string("1")))), codec_error);
}

TEST(remote_codec, the_scan_refuses_what_would_hurt_the_decoder) {
    const bytes deep(100, 0x81);  // arrays of one, a hundred deep
    EXPECT_NE(refusal(deep).find("deeper than 64"), std::string::npos);
    EXPECT_NE(refusal(bytes(2'000, 0), {.size = 1'000}).find("the limit is 1000"), std::string::npos);
    EXPECT_NE(refusal({0x9b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}).find("items with"),
              std::string::npos);
    EXPECT_NE(refusal({0x5b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}).find("a length of"),
              std::string::npos);
    EXPECT_NE(refusal({0x9f, 0x01, 0xff}).find("indefinite"), std::string::npos);
    EXPECT_NE(refusal({0xc0, 0x01}).find("a tag"), std::string::npos);
    EXPECT_NE(refusal({0xa2, 0x61, 'a', 0x01, 0x61, 'a', 0x02}).find("occurs twice"), std::string::npos);
    EXPECT_NE(refusal({0xa1, 0x01, 0x01}).find("no text"), std::string::npos);
    EXPECT_NE(refusal({0x01, 0x02}).find("1 byte(s) behind"), std::string::npos);
    EXPECT_NE(refusal({}).find("too early"), std::string::npos);
    EXPECT_NE(refusal({0x19, 0x01}).find("ends in its head"), std::string::npos);
    EXPECT_NE(refusal({0xf7}).find("does not travel"), std::string::npos);
    EXPECT_NE(refusal({0x3b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}).find("out of range"),
              std::string::npos);
}

TEST(remote_codec, keys_may_occur_again_in_another_map) {
    EXPECT_NO_THROW(check_cbor(bytes{0xa2, 0x61, 'a', 0xa1, 0x61, 'a', 0x01, 0x61, 'b', 0x02}));
    EXPECT_NO_THROW(check_cbor(bytes{0x82, 0xa1, 0x61, 'a', 0x01, 0xa1, 0x61, 'a', 0x01}));
}

TEST(remote_codec, whatever_the_scan_accepts_the_decoder_reads) {
    std::mt19937 random{20'261};
    std::size_t accepted = 0;
    for (int round = 0; round < 200'000; ++round) {
        bytes data(1 + random() % 12);
        for (std::uint8_t& byte : data) {
            byte = static_cast<std::uint8_t>(random());
        }
        try {
            check_cbor(data);
        } catch (const codec_error&) {
            continue;
        }
        ++accepted;
        EXPECT_NO_THROW(EXPECT_FALSE(nlohmann::json::from_cbor(data).is_discarded()));
    }
    EXPECT_GT(accepted, 1'000U);
}

TEST(remote_codec, arguments_must_be_as_many_as_the_function_has) {
    const bytes two = spool::remote::detail::encode_arguments<int, int>(1, 2);
    EXPECT_EQ((spool::remote::detail::decode_arguments<int, int>(two, {})), (std::tuple{1, 2}));
    EXPECT_THROW((static_cast<void>(spool::remote::detail::decode_arguments<int>(two, {}))), codec_error);
}

TEST(remote_function, the_signature_tells_functions_apart) {
    EXPECT_EQ(test::add.name(), "add");
    EXPECT_EQ(test::add.signature_text(), "i32(i32,i32)");
    EXPECT_EQ(test::greet.signature_text(), "text(text)");
    EXPECT_EQ((function<void(std::vector<std::string>, std::optional<double>)>::signature_text()),
              "void([text],f64?)");
    EXPECT_NE(test::add.signature(), test::greet.signature());
}

TEST(remote_job_id, text_reads_back_and_nonsense_does_not) {
    const job_id id = job_id::random();
    EXPECT_EQ(job_id::parse(id.text()), id);
    EXPECT_EQ(job_id::of("a"), job_id::of("a"));
    EXPECT_NE(job_id::of("a"), job_id::of("b"));
    EXPECT_EQ(job_id::parse("xyz"), std::nullopt);
    EXPECT_EQ(job_id::parse(std::string(32, 'g')), std::nullopt);
    EXPECT_NE(job_id::random(), id);
}

}  // namespace
