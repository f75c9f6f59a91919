// Each worker is attached to the queue while it works, however it ends. A worker that cannot be
// attached works all the same.
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/eventually.hpp"
#include "unit/pool/behaviour/pool_helpers.hpp"

namespace {

using namespace std::chrono_literals;

struct attachments {
    std::atomic<int> now{0};
    std::atomic<int> ever{0};
    std::atomic<int> polled_without{0};
    std::exception_ptr refusal{};  // set before the pool is constructed
};

// Tracks which consumers are attached.
class attendance_queue final : public spool::blocking_queue<spool::task> {
public:
    explicit attendance_queue(attachments& book) : book_(book) {}
    [[nodiscard]] std::size_t size() const override { return inner_.size(); }
    void attach_consumer() override {
        if (book_.refusal != nullptr) {
            std::rethrow_exception(book_.refusal);
        }
        ++book_.now;
        ++book_.ever;
        is_attached = true;
    }
    void detach_consumer() noexcept override {
        --book_.now;
        is_attached = false;
    }

protected:
    bool try_push(spool::task& x) override { return inner_.offer(std::move(x)); }
    std::optional<spool::task> try_pop() override {
        book_.polled_without += is_attached ? 0 : 1;
        return inner_.poll();
    }
    std::vector<spool::task> extract_if(spool::function_ref<bool(const spool::task&)> wanted) override {
        return inner_.take_if(wanted);
    }

private:
    static thread_local bool is_attached;
    attachments& book_;
    spool::linked_blocking_queue<spool::task> inner_;
};
thread_local bool attendance_queue::is_attached = false;

spool::pool_options options_with(attachments& book, std::size_t core) {
    return {.core_size = core,
            .maximum_size = core + 1,
            .keep_alive = 1ms,
            .queue = std::make_unique<attendance_queue>(book),
            .uncaught = test::quiet()};
}

}  // namespace

TEST(consumer_attachment, lasts_as_long_as_the_worker) {
    attachments book;
    {
        spool::thread_pool_executor pool{options_with(book, 3)};
        EXPECT_EQ(pool.prestart_all_core_threads(), 3U);
        EXPECT_TRUE(test::eventually([&] { return book.now == 3; }));
        ASSERT_TRUE(test::ends(pool));
        EXPECT_TRUE(test::eventually([&] { return book.now == 0; }));
    }
    EXPECT_EQ(book.ever, 3);
    EXPECT_EQ(book.polled_without, 0);
}

TEST(consumer_attachment, ends_with_a_worker_that_dies_of_an_exception) {
    attachments book;
    spool::thread_pool_executor pool{options_with(book, 1)};
    pool.execute([] { throw std::runtime_error("task"); });
    pool.submit([] {}).get();
    EXPECT_TRUE(test::eventually([&] { return book.ever == 2 && book.now == 1; }));
    ASSERT_TRUE(test::ends(pool));
}

TEST(consumer_attachment, ends_with_a_worker_that_times_out) {
    attachments book;
    spool::thread_pool_executor pool{options_with(book, 1)};
    pool.allow_core_threads_to_time_out(true);
    pool.submit([] {}).get();
    EXPECT_TRUE(test::eventually([&] { return book.ever == 1 && book.now == 0; }));
    ASSERT_TRUE(test::ends(pool));
}

TEST(consumer_attachment, ends_with_the_worker_that_destroys_the_pool) {
    attachments book;
    std::atomic<int> inside{0};
    auto pool = std::make_unique<spool::thread_pool_executor>(options_with(book, 2));
    test::gate begin;
    auto& running = *pool;
    running.execute([&, own = std::move(pool)]() mutable {
        begin.wait();
        own.reset();
        inside = book.now.load();
    });
    running.execute([] {});
    begin.open();
    EXPECT_TRUE(test::eventually([&] { return inside == 1 && book.now == 0; }));
    EXPECT_EQ(book.polled_without, 0);
}

TEST(consumer_attachment, ends_with_the_worker_whose_task_takes_the_pool_along_as_it_goes) {
    attachments book;
    auto pool = std::make_unique<spool::thread_pool_executor>(options_with(book, 2));
    test::gate begin;
    auto& running = *pool;
    running.execute([&begin, own = std::move(pool)] { begin.wait(); });
    running.execute([] {});
    begin.open();
    EXPECT_TRUE(test::eventually([&] { return book.ever == 2 && book.now == 0; }));
    EXPECT_EQ(book.polled_without, 0);
}

// Returns how many workers were reported when two could not be attached.
static std::size_t reports_of_refusal(std::exception_ptr why) {
    attachments book;
    book.refusal = std::move(why);
    test::record<std::string> reported;
    spool::pool_options options = options_with(book, 2);
    options.uncaught = [&reported](const spool::worker_info& where, const std::exception_ptr&) {
        reported.add(where.name);
    };
    spool::thread_pool_executor pool{std::move(options)};
    std::atomic<int> ran{0};
    for (int i = 0; i < 100; ++i) {
        pool.execute([&ran] { ++ran; });
    }
    EXPECT_TRUE(test::ends(pool));
    EXPECT_EQ(ran, 100);
    EXPECT_EQ(book.now, 0);  // a worker that could not attach does not detach
    return reported.size();
}

TEST(consumer_attachment, worker_that_cannot_be_attached_works_without) {
    EXPECT_EQ(reports_of_refusal(std::make_exception_ptr(std::bad_alloc{})), 0U);
    EXPECT_EQ(reports_of_refusal(std::make_exception_ptr(std::runtime_error{"queue"})), 2U);
}
