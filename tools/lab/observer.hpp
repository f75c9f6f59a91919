// Observes a real run: samples the pool and builds the frames for the view.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <spool/pool/thread_pool_executor.hpp>
#include <string>

#include "histogram.hpp"
#include "load_generator.hpp"
#include "recorder.hpp"
#include "view.hpp"

namespace spool::lab {

class observer {
public:
    observer(thread_pool_executor& pool, recorder& of, const load_generator& load, view& audience,
             std::string title);

    /// Takes one sample; ten times a second also shows a frame.
    void look();
    /// Later frames show these settings.
    void settings_are(const settings& now) { frame_.pool = now; }

private:
    // The events of a tenth of a second.
    struct tenth {
        histogram waits;
        histogram runs;
        std::uint64_t arrived = 0;
        std::uint64_t completed = 0;
        std::uint64_t rejected = 0;
    };
    static constexpr std::size_t tenths = 10;

    void end_tenth(nanoseconds now);

    thread_pool_executor& pool_;
    recorder& of_;
    const load_generator& load_;
    view& audience_;
    frame frame_;
    std::array<tenth, tenths> last_second_{};  // a ring buffer
    std::size_t current_ = 0;
    std::size_t filled_ = 0;
    nanoseconds next_frame_{0};
    std::uint64_t arrived_ = 0;
    std::uint64_t rejected_ = 0;
};

}  // namespace spool::lab
