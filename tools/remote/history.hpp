// history: what every process of a run did, written before and after each step, and the check that
// decides from it whether a job was lost or ended twice. In the manner of Jepsen's queue test.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "spool/remote/job.hpp"

namespace spool::remote_demo {

/// Appends lines to a file of this process. A line is one write(), so a kill loses none.
class journal {
public:
    explicit journal(const std::string& file);
    journal(const journal&) = delete;
    journal& operator=(const journal&) = delete;
    ~journal();

    /// `what` is submit, acknowledged, begin, end or outcome.
    void note(const char* what, const remote::job_id& id, std::int64_t number = 0) const;

private:
    int file_;
};

struct event {
    std::string what;
    remote::job_id id;
    std::int64_t number = 0;  // the fence of begin and end; the result of outcome
    std::int64_t time = 0;    // steady, microseconds
    std::string process;      // the name of the journal
};

[[nodiscard]] std::vector<event> read_journal(const std::string& file, const std::string& process);

struct verdict {
    std::size_t submitted = 0;
    std::size_t outcomes = 0;
    std::size_t executions = 0;
    /// Executions beyond the first of a job, each explained by a kill or by a lost lease.
    std::size_t repeated = 0;
    /// From a kill to the next start of a job that the killed worker ran; milliseconds, the
    /// longest.
    double longest_recovery = 0;
    std::vector<std::string> violations;
};

/// Checks:
///   H1  Every acknowledged job has one outcome, and no job has two.
///   H2  Only submitted jobs are executed.
///   H3  Executions of a job have distinct fences, in the order of their beginnings.
///   H4  A job runs again only if its last run was in a process that was killed, or if its record
///       counts a lost lease.
///   H5  The broker's record is finished, and its fence is that of the last execution.
/// `kills` has the time of each process's kill.
[[nodiscard]] verdict check(const std::vector<event>& events,
                            const std::map<std::string, std::int64_t>& kills,
                            const std::vector<remote::job_record>& records);

[[nodiscard]] std::int64_t steady_now();

}  // namespace spool::remote_demo
