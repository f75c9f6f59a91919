#include "pg_connection.hpp"

#include <poll.h>

#include <bit>
#include <cstring>
#include <new>

#include "fault_point.hpp"

namespace spool::inline v1::remote::detail {
namespace {

// Object ids of the built-in types: part of PostgreSQL's protocol.
constexpr Oid bool_type = 16, bytea_type = 17, int8_type = 20, int4_type = 23, text_type = 25,
              float8_type = 701, uuid_type = 2950, bytea_array = 1001, int4_array = 1007, text_array = 1009,
              int8_array = 1016, uuid_array = 2951;

template <class Integer>
void append(bytes& data, Integer value) {
    for (std::size_t i = sizeof value; i-- > 0;) {
        data.push_back(static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) >> (8U * i)));
    }
}

template <class Range>
void append_bytes(bytes& data, const Range& range) {
    data.insert(data.end(), range.begin(), range.end());
}

std::uint64_t read(const char* data, int size) {
    std::uint64_t value = 0;
    for (int i = 0; i < size; ++i) {
        value = value << 8U | static_cast<std::uint8_t>(data[i]);
    }
    return value;
}

broker_failure failure_of(std::string_view state) {
    const std::string_view kind = state.substr(0, 2);
    if (kind == "53") {
        return state == "53100" ? broker_failure::out_of_space : broker_failure::unavailable;
    }
    // 08 connection, 40 serialisation and deadlock, 57 shutdown and cancel, 58 system, 55 locks
    if (state.empty() || kind == "08" || kind == "40" || kind == "57" || kind == "58" || kind == "55") {
        return broker_failure::unavailable;
    }
    if (kind == "28" || state == "42501") {
        return broker_failure::denied;
    }
    // The schema, a function or a table is missing.
    if (state == "3F000" || state == "42883" || state == "42P01" || state == "3D000") {
        return broker_failure::wrong_version;
    }
    return broker_failure::misuse;
}

std::string trimmed(const char* text) {
    std::string s = text == nullptr ? "" : text;
    while (!s.empty() && (s.back() == '\n' || s.back() == ' ')) {
        s.pop_back();
    }
    return s;
}

}  // namespace

void pg_parameters::finish(Oid type, std::size_t start) {
    values_.push_back({type, start, static_cast<int>(data_.size() - start), false});
}

pg_parameters& pg_parameters::add(std::int32_t value) {
    append(data_, value);
    finish(int4_type, data_.size() - 4);
    return *this;
}
pg_parameters& pg_parameters::add(std::int64_t value) {
    append(data_, value);
    finish(int8_type, data_.size() - 8);
    return *this;
}
pg_parameters& pg_parameters::add(double value) {
    append(data_, std::bit_cast<std::uint64_t>(value));
    finish(float8_type, data_.size() - 8);
    return *this;
}
pg_parameters& pg_parameters::add(bool value) {
    data_.push_back(value ? 1 : 0);
    finish(bool_type, data_.size() - 1);
    return *this;
}
pg_parameters& pg_parameters::add(std::string_view text) {
    const std::size_t start = data_.size();
    append_bytes(data_, text);
    finish(text_type, start);
    return *this;
}
pg_parameters& pg_parameters::add(const job_id& id) {
    const std::size_t start = data_.size();
    append_bytes(data_, id.value());
    finish(uuid_type, start);
    return *this;
}
pg_parameters& pg_parameters::add_null() {
    values_.push_back({text_type, data_.size(), 0, true});
    return *this;
}

template <class T, class Write>
pg_parameters& pg_parameters::add_array(Oid array_type, Oid type, const std::vector<T>& values, Write write) {
    const std::size_t start = data_.size();
    append(data_, static_cast<std::int32_t>(values.empty() ? 0 : 1));  // dimensions
    append(data_, std::int32_t{0});                                    // no nulls
    append(data_, type);
    if (!values.empty()) {
        append(data_, static_cast<std::int32_t>(values.size()));
        append(data_, std::int32_t{1});  // the lower bound
    }
    for (const T& value : values) {
        const std::size_t at = data_.size();
        append(data_, std::int32_t{0});
        write(data_, value);
        bytes size;
        append(size, static_cast<std::int32_t>(data_.size() - at - 4));
        std::copy(size.begin(), size.end(), data_.begin() + static_cast<std::ptrdiff_t>(at));
    }
    finish(array_type, start);
    return *this;
}

pg_parameters& pg_parameters::add(const std::vector<std::int32_t>& values) {
    return add_array(int4_array, int4_type, values, [](bytes& d, std::int32_t v) { append(d, v); });
}
pg_parameters& pg_parameters::add(const std::vector<std::int64_t>& values) {
    return add_array(int8_array, int8_type, values, [](bytes& d, std::int64_t v) { append(d, v); });
}
pg_parameters& pg_parameters::add(const std::vector<std::string_view>& values) {
    return add_array(text_array, text_type, values, [](bytes& d, std::string_view v) { append_bytes(d, v); });
}
pg_parameters& pg_parameters::add(const std::vector<job_id>& values) {
    return add_array(uuid_array, uuid_type, values,
                     [](bytes& d, const job_id& v) { append_bytes(d, v.value()); });
}
pg_parameters& pg_parameters::add(const std::vector<std::span<const std::uint8_t>>& values) {
    return add_array(bytea_array, bytea_type, values, [](bytes& d, auto v) { append_bytes(d, v); });
}

std::int64_t pg_result::integer(int row, int column) const {
    const int size = PQgetlength(result_.get(), row, column);
    const std::uint64_t value = read(PQgetvalue(result_.get(), row, column), size);
    switch (size) {
        case 2: return static_cast<std::int16_t>(value);
        case 4: return static_cast<std::int32_t>(value);
        default: return static_cast<std::int64_t>(value);
    }
}
double pg_result::real(int row, int column) const {
    return std::bit_cast<double>(read(PQgetvalue(result_.get(), row, column), 8));
}
std::string pg_result::text(int row, int column) const {
    return {PQgetvalue(result_.get(), row, column),
            static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
}
bytes pg_result::blob(int row, int column) const {
    const auto* const data = reinterpret_cast<const std::uint8_t*>(PQgetvalue(result_.get(), row, column));
    return {data, data + PQgetlength(result_.get(), row, column)};
}
job_id pg_result::id(int row, int column) const {
    job_id::value_type value{};
    if (PQgetlength(result_.get(), row, column) == static_cast<int>(value.size())) {
        std::memcpy(value.data(), PQgetvalue(result_.get(), row, column), value.size());
    }
    return job_id{value};
}

pg_connection::pg_connection(const std::string& connection, std::chrono::nanoseconds timeout)
    : connection_(nullptr, &PQfinish), timeout_(timeout) {
    if (fails_here("connect")) {
        throw broker_error(broker_failure::unavailable, "postgres broker: connect: injected fault");
    }
    // The caller's string comes last, so its settings win. A silent partner is given up after 10 s.
    const char* const keys[] = {"connect_timeout",
                                "keepalives_idle",
                                "keepalives_interval",
                                "keepalives_count",
                                "tcp_user_timeout",
                                "application_name",
                                "dbname",
                                nullptr};
    const char* const values[] = {"5", "5", "2", "3", "10000", "spool", connection.c_str(), nullptr};
    connection_.reset(PQconnectStartParams(keys, values, 1));
    if (connection_ == nullptr) {
        throw std::bad_alloc{};
    }
    const deadline until = deadline::after(timeout_);
    PQsetNoticeProcessor(
        connection_.get(), [](void*, const char*) {}, nullptr);
    for (auto wanted = PGRES_POLLING_WRITING; wanted != PGRES_POLLING_OK;) {
        if (wanted == PGRES_POLLING_FAILED || PQstatus(connection_.get()) == CONNECTION_BAD) {
            const std::string reason = trimmed(PQerrorMessage(connection_.get()));
            const bool is_denied = reason.find("password") != std::string::npos ||
                                   reason.find("authentication") != std::string::npos ||
                                   reason.find("does not exist") != std::string::npos;
            throw broker_error(is_denied ? broker_failure::denied : broker_failure::unavailable,
                               "postgres broker: connect: " + reason);
        }
        wait_for_socket(wanted == PGRES_POLLING_READING ? POLLIN : POLLOUT, until, "connect");
        wanted = PQconnectPoll(connection_.get());
    }
    PQsetnonblocking(connection_.get(), 1);
}

pg_connection::pg_connection(PGconn* borrowed)
    : connection_(borrowed, [](PGconn*) {}), timeout_(std::chrono::seconds{60}) {}

void pg_connection::fail(const char* what, const PGresult* result) {
    const char* const state = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char* const message =
        result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    // Only the primary message: the detail may quote values of the row.
    const std::string reason = message != nullptr ? message : trimmed(PQerrorMessage(connection_.get()));
    const broker_failure failure = failure_of(state == nullptr ? "" : state);
    if (state == nullptr || PQstatus(connection_.get()) != CONNECTION_OK) {
        is_usable_ = false;
    }
    std::string text = std::string("postgres broker: ") + what + ": " + reason;
    if (failure == broker_failure::wrong_version) {
        text += "; run `spool remote migrate`";
    }
    throw broker_error(failure, text);
}

void pg_connection::wait_for_socket(short events, deadline until, const char* what) {
    while (true) {
        if (until.expired()) {
            is_usable_ = false;
            throw broker_error(broker_failure::unavailable,
                               std::string("postgres broker: ") + what + ": no answer within " +
                                   std::to_string(timeout_.count() / 1'000'000) + " ms");
        }
        struct pollfd file {
            PQsocket(connection_.get()), events, 0
        };
        if (::poll(&file, 1, 100) > 0) {
            return;
        }
    }
}

pg_result pg_connection::wait_for_result(const char* what) {
    const deadline until = deadline::after(timeout_);
    while (true) {
        const int rest = PQflush(connection_.get());
        if (rest < 0) {
            fail(what);
        }
        if (rest == 0 && PQisBusy(connection_.get()) == 0) {
            break;
        }
        wait_for_socket(static_cast<short>(POLLIN | (rest > 0 ? POLLOUT : 0)), until, what);
        if (PQconsumeInput(connection_.get()) == 0) {
            fail(what);
        }
    }
    return pg_result{PQgetResult(connection_.get())};
}

pg_result pg_connection::call(const char* sql, const pg_parameters& parameters) {
    if (fails_here("call")) {
        is_usable_ = false;
        throw broker_error(broker_failure::unavailable, "postgres broker: call: injected fault");
    }
    std::vector<Oid> types;
    std::vector<const char*> values;
    std::vector<int> sizes;
    for (const auto& v : parameters.values_) {
        types.push_back(v.type);
        values.push_back(v.is_null ? nullptr
                                   : reinterpret_cast<const char*>(parameters.data_.data()) + v.start);
        sizes.push_back(v.size);
    }
    static constexpr char nothing[] = "";
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (sizes[i] == 0 && !parameters.values_[i].is_null) {
            values[i] = nothing;
        }
    }
    const std::vector<int> formats(values.size(), 1);
    const char* const what = sql;
    if (PQsendQueryParams(connection_.get(), sql, static_cast<int>(values.size()), types.data(),
                          values.data(), sizes.data(), formats.data(), 1) == 0) {
        is_usable_ = false;
        fail(what);
    }
    pg_result first = wait_for_result(what);
    while (true) {  // to the end of the answer
        pg_result more = wait_for_result(what);
        if (more.get() == nullptr) {
            break;
        }
    }
    const ExecStatusType status = PQresultStatus(first.get());
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
        fail(what, first.get());
    }
    return first;
}

void pg_connection::script(const char* sql) {
    PQsetnonblocking(connection_.get(), 0);
    const pg_result result{PQexec(connection_.get(), sql)};
    PQsetnonblocking(connection_.get(), 1);
    const ExecStatusType status = PQresultStatus(result.get());
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
        fail("script", result.get());
    }
}

}  // namespace spool::inline v1::remote::detail
