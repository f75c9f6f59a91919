// report_uncaught: writes one line to stderr in one piece, so that lines of several threads do not
// mix.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spool/base/error.hpp"

namespace {

// Captures every write to stderr separately until it is destroyed: a pipe in packet mode keeps
// writes apart.
class captured_stderr {
public:
    captured_stderr() {
        if (pipe2(ends_.data(), O_DIRECT | O_NONBLOCK) != 0) {
            ADD_FAILURE() << "no pipe";
            return;
        }
        std::fflush(stderr);
        saved_ = dup(STDERR_FILENO);
        dup2(ends_[1], STDERR_FILENO);
    }
    captured_stderr(const captured_stderr&) = delete;
    captured_stderr& operator=(const captured_stderr&) = delete;
    ~captured_stderr() {
        release();
        close(ends_[0]);
        close(ends_[1]);
    }

    std::vector<std::string> writes() {
        release();
        std::vector<std::string> all;
        std::array<char, 4096> buffer{};
        for (;;) {
            const ssize_t length = read(ends_[0], buffer.data(), buffer.size());
            if (length <= 0) {
                return all;
            }
            all.emplace_back(buffer.data(), static_cast<std::size_t>(length));
        }
    }

private:
    void release() {
        if (saved_ >= 0) {
            std::fflush(stderr);
            dup2(saved_, STDERR_FILENO);
            close(saved_);
            saved_ = -1;
        }
    }

    std::array<int, 2> ends_{-1, -1};
    int saved_ = -1;
};

std::vector<std::string> writes_for(const std::exception_ptr& error) {
    captured_stderr captured;
    spool::report_uncaught("pool \"io\"", error);
    return captured.writes();
}

using lines = std::vector<std::string>;

TEST(report_of_uncaught, standard_exception_is_exactly_one_line) {
    EXPECT_EQ(writes_for(std::make_exception_ptr(std::runtime_error("disk full"))),
              lines{"spool: uncaught exception in pool \"io\": disk full\n"});
}

TEST(report_of_uncaught, foreign_exception_is_exactly_one_line) {
    EXPECT_EQ(writes_for(std::make_exception_ptr(42)),
              lines{"spool: uncaught exception in pool \"io\": an exception that is no std::exception\n"});
}

TEST(report_of_uncaught, missing_exception_is_reported_too) {
    EXPECT_EQ(writes_for(nullptr), lines{"spool: uncaught exception in pool \"io\": no exception\n"});
}

TEST(report_of_uncaught, long_text_is_written_in_one_piece) {
    const std::string text(2'000, 'x');
    EXPECT_EQ(writes_for(std::make_exception_ptr(std::runtime_error(text))),
              lines{"spool: uncaught exception in pool \"io\": " + text + "\n"});
}

static_assert(noexcept(spool::report_uncaught(std::string_view{},
                                              std::declval<const std::exception_ptr&>())));

}  // namespace
