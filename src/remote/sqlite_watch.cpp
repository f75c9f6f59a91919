// How processes that share an SQLite file notice each other's changes.
#include <algorithm>
#include <condition_variable>
#include <utility>

#include "sqlite_broker.hpp"

namespace spool::inline v1::remote::detail {
namespace {

using std::chrono::microseconds;

constexpr microseconds shortest_poll{1'000};
constexpr microseconds longest_poll{50'000};
constexpr std::size_t news_batch = 10'000;

/// Polls the file's change counter: fast after a change, slower and slower without one.
class sqlite_subscription final : public subscription {
public:
    sqlite_subscription(std::shared_ptr<sqlite_broker> owner, subscription_topics topics)
        : owner_(std::move(owner)),
          topics_(std::move(topics)),
          db_(owner_->options().file, owner_->options().busy_timeout) {
        query q = db_.use("SELECT done_number FROM clock");
        done_ = q.step() ? q.integer(0) : 0;
    }

    wake_up wait_until(deadline until) override {
        microseconds poll = shortest_poll;
        while (true) {
            if (const std::int64_t now = version(); now != seen_) {
                seen_ = now;
                poll = shortest_poll;
                wake_up news = look();
                if (news.work || !news.finished.empty() || !news.stop_requested.empty()) {
                    return news;
                }
            }
            if (until.expired() || pause(std::min(deadline::after(poll), until))) {
                return {};
            }
            poll = std::min(poll * 3 / 2, longest_poll);
        }
    }
    void interrupt() noexcept override {
        const lock_guard lock{mutex_};
        is_interrupted_ = true;
        changed_.notify_all();
    }

private:
    // Changes with every commit of another connection, also of this process.
    std::int64_t version() {
        query q = db_.use("PRAGMA data_version");
        return q.step() ? q.integer(0) : 0;
    }

    // True: interrupted.
    bool pause(deadline until) {
        const lock_guard lock{mutex_};
        while (!is_interrupted_ && !until.expired()) {
            changed_.wait_until(mutex_, until.when());
        }
        return std::exchange(is_interrupted_, false);
    }

    wake_up look() {
        wake_up news;
        for (const std::string& queue : topics_.queues) {
            query q = db_.use("SELECT 1 FROM job WHERE state = 1 AND queue = ? LIMIT 1");
            if (q.bind(queue).step()) {
                news.work = true;
                break;
            }
        }
        if (!topics_.submitter.empty()) {
            query q = db_.use("SELECT id, done_number FROM job WHERE state >= 3 AND submitter = ? AND "
                              "done_number > ? ORDER BY done_number LIMIT ?");
            q.bind(topics_.submitter).bind(done_).bind(static_cast<std::int64_t>(news_batch));
            while (q.step()) {
                news.finished.push_back(q.id(0));
                done_ = q.integer(1);  // writers take turns, so no smaller number comes later
            }
            if (news.finished.size() == news_batch) {
                seen_ = -1;  // there may be more
            }
        }
        if (!topics_.worker.empty()) {
            query q = db_.use("SELECT id FROM job WHERE state = 2 AND cancel_requested = 1 AND worker = ?");
            q.bind(topics_.worker);
            while (q.step()) {
                news.stop_requested.push_back(q.id(0));
            }
        }
        return news;
    }

    const std::shared_ptr<sqlite_broker> owner_;
    const subscription_topics topics_;
    database db_;
    std::int64_t seen_ = -1;
    std::int64_t done_ = 0;
    mutex mutex_;
    std::condition_variable_any changed_;
    bool is_interrupted_ SPOOL_GUARDED_BY(mutex_) = false;
};

}  // namespace

std::unique_ptr<subscription> sqlite_broker::subscribe(subscription_topics topics) {
    return std::make_unique<sqlite_subscription>(shared_from_this(), std::move(topics));
}

}  // namespace spool::inline v1::remote::detail
