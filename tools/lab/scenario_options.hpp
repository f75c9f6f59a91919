// The command-line options that select a scenario and override its settings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "scenario.hpp"

namespace CLI {
class App;
}

namespace spool::lab {

class scenario_options {
public:
    /// Adds SCENARIO and the options to a sub-command.
    void add_to(CLI::App& command);
    /// Returns the selected scenario with the overrides. \throws input_error
    [[nodiscard]] scenario load() const;
    /// Whether the command line states a goal.
    [[nodiscard]] bool has_goal() const noexcept { return !goal_.empty(); }
    /// Returns SCENARIO as given; empty if options describe the load instead.
    [[nodiscard]] const std::string& file() const noexcept { return file_; }

private:
    [[nodiscard]] scenario from_flags() const;
    void change_pool(settings& pool) const;

    std::string file_;
    std::optional<std::size_t> core_;
    std::optional<std::size_t> maximum_;
    std::string queue_;
    std::string keep_alive_;
    std::string rejection_;
    std::string duration_;
    std::optional<std::uint64_t> seed_;
    double speed_ = 1;
    std::optional<double> rate_;
    std::string arrivals_;
    std::string service_ = "exponential:10ms";
    std::string work_ = "blocking";
    std::string deadline_;
    std::string goal_;
};

}  // namespace spool::lab
