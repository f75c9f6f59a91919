#include "json_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <numeric>
#include <sstream>

#include "duration_text.hpp"

namespace spool::lab {
namespace {

// Returns the edit distance of two words.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0U : 1U);
            diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, changed}));
        }
    }
    return row.back();
}

std::string shortened(const std::string& text) {
    constexpr std::size_t most = 40;
    return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

}  // namespace

json_source read_source(const std::string& file) {
    std::ifstream stream{file, std::ios::binary};
    std::ostringstream text;
    text << stream.rdbuf();
    if (!stream) {
        throw input_error(fmt::format("{}: cannot be read", file));
    }
    return {file, std::move(text).str()};
}

json_field json_field::parse(json_source source) {
    auto in = std::make_shared<document>();
    in->source = std::move(source);
    try {
        in->root = nlohmann::json::parse(in->source.text);
    } catch (const nlohmann::json::parse_error& e) {
        const std::string words = e.what();
        // The cause follows nlohmann's own "[json.exception...] ... line 1, column 2".
        const std::size_t cause = words.find(": ");
        throw input_error(fmt::format("{}:{}: not valid JSON: {}", in->source.name,
                                      line_at(in->source.text, e.byte == 0 ? 0 : e.byte - 1),
                                      cause == std::string::npos ? words : words.substr(cause + 2)));
    }
    const nlohmann::json* root = &in->root;
    return {std::move(in), root, {}};
}

void json_field::complain(const std::string& words) const {
    throw input_error(fmt::format("{}:{}: {}: {}", in_->source.name, line_of(in_->source.text, path_),
                                  to_text(path_), words));
}

void json_field::fail(const std::string& expected) const {
    complain(fmt::format("expected {}, got {}", expected, shortened(value_->dump())));
}

json_field json_field::operator[](const std::string& name) const {
    if (!value_->is_object()) {
        fail("an object");
    }
    const auto member = value_->find(name);
    if (member == value_->end()) {
        complain(fmt::format("the field \"{}\" is missing", name));
    }
    json_path path = path_;
    path.emplace_back(name);
    return {in_, &*member, std::move(path)};
}

std::vector<json_field> json_field::elements() const {
    if (!value_->is_array()) {
        return {*this};
    }
    if (value_->empty()) {
        fail("at least one element");
    }
    std::vector<json_field> all;
    for (std::size_t i = 0; i < value_->size(); ++i) {
        json_path path = path_;
        path.emplace_back(i);
        all.push_back({in_, &(*value_)[i], std::move(path)});
    }
    return all;
}

void json_field::allow_only(std::initializer_list<std::string_view> names) const {
    if (!value_->is_object()) {
        fail("an object");
    }
    for (const auto& [name, value] : value_->items()) {
        if (std::find(names.begin(), names.end(), name) != names.end()) {
            continue;
        }
        const auto nearest = std::min_element(names.begin(), names.end(), [&n = name](auto a, auto b) {
            return distance(n, a) < distance(n, b);
        });
        (*this)[name].complain(fmt::format("no such field; did you mean \"{}\"?", *nearest));
    }
}

std::string json_field::text() const {
    if (!value_->is_string()) {
        fail("a text");
    }
    return value_->get<std::string>();
}

bool json_field::truth() const {
    if (!value_->is_boolean()) {
        fail("true or false");
    }
    return value_->get<bool>();
}

std::size_t json_field::count(std::size_t least, std::size_t most) const {
    const bool whole =
        value_->is_number_unsigned() || (value_->is_number_integer() && value_->get<long>() >= 0);
    if (!whole || value_->get<std::size_t>() < least || value_->get<std::size_t>() > most) {
        fail(most == std::numeric_limits<std::size_t>::max()
                 ? fmt::format("a whole number of at least {}", least)
                 : fmt::format("a whole number between {} and {}", least, most));
    }
    return value_->get<std::size_t>();
}

double json_field::number(double least, bool or_equal, double most, const std::string& expected) const {
    const double n = value_->is_number() ? value_->get<double>() : std::nan("");
    if (!(or_equal ? n >= least : n > least) || n > most) {
        fail(expected);
    }
    return n;
}

double json_field::positive(double most) const {
    return number(0, false, most, fmt::format("a number above 0 and at most {:.10g}", most));
}
double json_field::not_negative(double most) const {
    return number(0, true, most, fmt::format("a number between 0 and {:.10g}", most));
}
double json_field::share() const {
    return number(0, true, 1, "a share between 0 and 1");
}

nanoseconds json_field::duration(nanoseconds most) const {
    const auto ns = value_->is_string() ? parse_nanoseconds(text()) : std::nullopt;
    if (!ns.has_value()) {
        fail(R"(a duration such as "50ms" or "1.5s")");
    }
    if (*ns > static_cast<double>(most.count())) {
        fail(fmt::format("a duration of at most {}", to_text(most)));
    }
    return nanoseconds{std::llround(*ns)};
}

nanoseconds json_field::positive_duration(nanoseconds most) const {
    const nanoseconds d = duration(most);
    if (d == nanoseconds::zero()) {
        fail("a duration above zero");
    }
    return d;
}

}  // namespace spool::lab
