// postgres_broker: calls of the functions in migrations/*.sql, over a few connections.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pg_connection.hpp"
#include "spool/detail/mutex.hpp"
#include "spool/remote/broker.hpp"
#include "spool/remote/postgres_broker.hpp"

namespace spool::inline v1::remote::detail {

using spool::detail::lock_guard;
using spool::detail::mutex;

inline constexpr int postgres_schema_version = 1;
/// How many idle connections a broker keeps.
inline constexpr std::size_t most_idle = 8;
/// The first word of the advisory locks that workers hold ("SPOO").
inline constexpr std::int32_t worker_lock_class = 1397772111;

/// \throws broker_error: wrong_version
void check_version(pg_connection& connection);
[[nodiscard]] std::vector<put_result> call_put(pg_connection& connection, std::span<const new_job> jobs);
[[nodiscard]] std::vector<finish_status> call_finish(pg_connection& connection,
                                                     std::span<const job_outcome> outcomes);

class postgres_broker final : public broker, public std::enable_shared_from_this<postgres_broker> {
public:
    explicit postgres_broker(postgres_options options) : options_(std::move(options)) {}

    std::string label() const override { return "postgres broker"; }
    std::vector<put_result> put(std::span<const new_job> jobs, const put_limits& limits) override;
    taken_jobs take(const take_request& request) override;
    std::vector<renew_status> renew(std::span<const lease> leases, duration length) override;
    std::vector<finish_status> finish(std::span<const job_outcome> outcomes) override;
    std::size_t hand_back(std::span<const lease> leases, duration delay) override;
    cancel_status cancel(const job_id& id) override;
    bool retry(const job_id& id) override;
    std::vector<job_record> look(const look_filter& filter) override;
    std::vector<job_record> outcomes(std::span<const job_id> ids) override;
    std::vector<queue_record> queues() override;
    void configure(const std::string& queue, const queue_settings& settings) override;
    void enlist(const worker_record& worker) override;
    void retire(const std::string& worker) override;
    std::vector<worker_record> workers() override;
    std::vector<std::string> unserved(std::span<const std::string> queues) override;
    std::size_t tidy(std::size_t limit) override;
    server_time now() override;
    std::unique_ptr<subscription> subscribe(subscription_topics topics) override;

    [[nodiscard]] const postgres_options& options() const noexcept { return options_; }
    /// A connection of its own, with the version checked.
    [[nodiscard]] std::unique_ptr<pg_connection> open() const;

private:
    /// Calls `f(connection)` with an idle connection, again after a deadlock or a connection that
    /// the server had closed before.
    template <class F>
    auto with_connection(F f);
    /// Enlists again the workers whose session has ended, as after a restart of the server.
    void restore_sessions();

    const postgres_options options_;
    mutex mutex_;
    std::vector<std::unique_ptr<pg_connection>> idle_ SPOOL_GUARDED_BY(mutex_);
    /// One session per enlisted worker; it holds the worker's advisory lock.
    struct worker_session {
        worker_record worker;
        std::unique_ptr<pg_connection> connection;
    };
    std::map<std::string, worker_session> sessions_ SPOOL_GUARDED_BY(mutex_);
    deadline next_reap_ SPOOL_GUARDED_BY(mutex_) = deadline::after(std::chrono::seconds{0});
};

template <class F>
auto postgres_broker::with_connection(F f) {
    for (int attempt = 0;; ++attempt) {
        std::unique_ptr<pg_connection> connection;
        bool is_used = false;
        {
            const lock_guard lock{mutex_};
            if (!idle_.empty()) {
                connection = std::move(idle_.back());
                idle_.pop_back();
                is_used = true;
            }
        }
        if (connection == nullptr) {
            connection = open();
        }
        const auto give_back = [&] {
            const lock_guard lock{mutex_};
            if (connection->is_usable() && idle_.size() < most_idle) {
                idle_.push_back(std::move(connection));
            }
        };
        try {
            auto result = f(*connection);
            give_back();
            return result;
        } catch (const broker_error& e) {
            const bool is_deadlock = connection->is_usable() && e.is_transient();
            // Every call is one transaction, and safe to repeat: the fence and the ids decide.
            const bool was_closed = !connection->is_usable() && is_used;
            give_back();
            if (attempt >= 4 || !(is_deadlock || was_closed)) {
                throw;
            }
            if (was_closed) {
                const lock_guard lock{mutex_};
                idle_.clear();  // a restart of the server has closed them all
            }
        }
    }
}

}  // namespace spool::inline v1::remote::detail
