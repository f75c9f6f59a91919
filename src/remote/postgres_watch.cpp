// How processes learn from PostgreSQL what happened: LISTEN on a connection of its own.
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "postgres_broker.hpp"

namespace spool::inline v1::remote::detail {
namespace {

constexpr std::chrono::milliseconds pooled_poll{50};

/// Wakes a thread in poll().
class wake_file {
public:
    wake_file() : file_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
        if (file_ < 0) {
            throw broker_error(broker_failure::unavailable, "postgres broker: no file descriptor is left");
        }
    }
    wake_file(const wake_file&) = delete;
    wake_file& operator=(const wake_file&) = delete;
    ~wake_file() { ::close(file_); }

    void set() noexcept {
        const std::uint64_t one = 1;
        static_cast<void>(!::write(file_, &one, sizeof one));
    }
    bool take() noexcept {
        std::uint64_t count = 0;
        return ::read(file_, &count, sizeof count) == sizeof count;
    }
    [[nodiscard]] int get() const noexcept { return file_; }

private:
    int file_;
};

int milliseconds_until(deadline until) {
    if (until.is_never()) {
        return -1;
    }
    if (until.expired()) {
        return 0;  // its time may be too far back to subtract from
    }
    const auto left = until.when() - std::chrono::steady_clock::now();
    return static_cast<int>(
        std::clamp<std::int64_t>(std::chrono::ceil<std::chrono::milliseconds>(left).count(), 0, 60'000));
}

class postgres_subscription final : public subscription {
public:
    postgres_subscription(const postgres_broker& owner, subscription_topics topics)
        : topics_(std::move(topics)), connection_(owner.options().session ? owner.open() : nullptr) {
        if (connection_ == nullptr) {
            return;
        }
        if (!topics_.queues.empty()) {
            connection_->call("LISTEN spool_ready");
        }
        if (!topics_.submitter.empty()) {
            done_channel_ = "spool_done_" + topics_.submitter;
            listen(done_channel_);
        }
        if (!topics_.worker.empty()) {
            stop_channel_ =
                "spool_stop_" +
                connection_->call("SELECT md5($1)", pg_parameters{}.add(topics_.worker)).text(0, 0);
            listen(stop_channel_);
        }
    }

    wake_up wait_until(deadline until) override {
        if (connection_ == nullptr) {
            return wait_without_session(until);
        }
        while (true) {
            wake_up news;
            if (read(news)) {
                return news;
            }
            struct pollfd files[] = {{connection_->socket(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
            ::poll(files, 2, milliseconds_until(until));
            if (PQconsumeInput(connection_->get()) == 0) {
                throw broker_error(broker_failure::unavailable,
                                   "postgres broker: the connection for news is lost");
            }
            if (wake_.take() || (until.expired() && !read(news))) {
                return news;
            }
            if (!news.finished.empty() || news.work || !news.stop_requested.empty()) {
                return news;
            }
        }
    }
    void interrupt() noexcept override { wake_.set(); }

private:
    void listen(const std::string& channel) {
        const std::unique_ptr<char, decltype(&PQfreemem)> name{
            PQescapeIdentifier(connection_->get(), channel.c_str(), channel.size()), &PQfreemem};
        connection_->call(("LISTEN " + std::string(name.get())).c_str());
    }

    // Behind a pooler nothing is announced: the reader looks at everything, now and then.
    wake_up wait_without_session(deadline until) {
        const deadline first = std::min(until, deadline::after(pooled_poll));
        struct pollfd file {
            wake_.get(), POLLIN, 0
        };
        ::poll(&file, 1, milliseconds_until(first));
        wake_.take();
        wake_up news;
        news.work = true;
        news.check_all = true;
        return news;
    }

    // True: there is something to report.
    bool read(wake_up& news) {
        bool any = false;
        while (PGnotify* const raw = PQnotifies(connection_->get())) {
            const std::unique_ptr<PGnotify, decltype(&PQfreemem)> note{raw, &PQfreemem};
            const std::string_view channel = note->relname;
            std::string_view text = note->extra;
            if (channel == "spool_ready") {
                const bool is_mine =
                    std::find(topics_.queues.begin(), topics_.queues.end(), text) != topics_.queues.end();
                news.work |= is_mine;
                any |= is_mine;
                continue;
            }
            std::vector<job_id>& ids = channel == done_channel_ ? news.finished : news.stop_requested;
            for (; text.size() >= 32; text.remove_prefix(32)) {
                if (const auto id = job_id::parse(text.substr(0, 32))) {
                    ids.push_back(*id);
                    any = true;
                }
            }
        }
        return any;
    }

    const subscription_topics topics_;
    wake_file wake_;
    std::unique_ptr<pg_connection> connection_;
    std::string done_channel_;
    std::string stop_channel_;
};

}  // namespace

std::unique_ptr<subscription> postgres_broker::subscribe(subscription_topics topics) {
    return std::make_unique<postgres_subscription>(*this, std::move(topics));
}

}  // namespace spool::inline v1::remote::detail
