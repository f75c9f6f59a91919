// The exceptions of spool::remote.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "spool/base/export.hpp"
#include "spool/remote/job.hpp"

namespace spool::inline v1::remote {

/// Why a broker could not do what it was asked for.
enum class broker_failure {
    unavailable,    ///< the engine does not answer; trying again may help
    out_of_space,   ///< the engine has no room left; trying again may help
    wrong_version,  ///< the schema is older or newer than this program
    denied,         ///< the engine refuses the credentials or the right
    misuse,         ///< the call or the settings are wrong
};

[[nodiscard]] SPOOL_API std::string_view to_string(broker_failure failure) noexcept;

/// A broker failed. what() names the broker, the call and the engine's own words. It never has a
/// password or a payload.
class SPOOL_API broker_error : public std::runtime_error {
public:
    broker_error(broker_failure failure, const std::string& what);
    broker_error(const broker_error&) noexcept;
    broker_error& operator=(const broker_error&) noexcept;
    ~broker_error() override;

    [[nodiscard]] broker_failure failure() const noexcept { return failure_; }
    /// Whether the same call may succeed later.
    [[nodiscard]] bool is_transient() const noexcept {
        return failure_ == broker_failure::unavailable || failure_ == broker_failure::out_of_space;
    }

private:
    broker_failure failure_;
};

/// A job ended without a result. Exceptions do not travel; their type and text do.
///
///     job 5f1c...: thumbnail failed on "worker-2" after 3 error(s): std::runtime_error: no such
///     file
class SPOOL_API remote_error : public std::runtime_error {
public:
    /// `state` is failed or dead; or succeeded, if the outcome can no longer be read.
    remote_error(job_state state, const job_record& job, const std::string& what);
    remote_error(const remote_error&) noexcept;
    remote_error& operator=(const remote_error&) noexcept;
    ~remote_error() override;

    [[nodiscard]] job_state state() const noexcept { return state_; }
    [[nodiscard]] const job_id& id() const noexcept { return id_; }
    /// The name of the exception's type in the worker, for example "std::runtime_error".
    [[nodiscard]] const std::string& type() const noexcept { return texts_->type; }
    /// What the exception said.
    [[nodiscard]] const std::string& text() const noexcept { return texts_->text; }
    [[nodiscard]] const std::string& worker() const noexcept { return texts_->worker; }
    [[nodiscard]] int attempts() const noexcept { return attempts_; }

private:
    struct texts {
        std::string type, text, worker;
    };
    job_state state_;
    job_id id_;
    int attempts_;
    std::shared_ptr<const texts> texts_;  // shared: copying an exception must not throw
};

/// Foreign bytes that are not what they should be: not well-formed, too deep, too large, of another
/// type.
class SPOOL_API codec_error : public std::runtime_error {
public:
    explicit codec_error(const std::string& what);
    codec_error(const codec_error&) noexcept;
    codec_error& operator=(const codec_error&) noexcept;
    ~codec_error() override;
};

}  // namespace spool::inline v1::remote
