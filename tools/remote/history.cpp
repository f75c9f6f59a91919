#include "history.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <unordered_map>

namespace spool::remote_demo {

using remote::job_id;
using remote::job_record;

std::int64_t steady_now() {
    return std::chrono::duration_cast<std::chrono::microseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

journal::journal(const std::string& file)
    : file_(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
    if (file_ < 0) {
        throw std::runtime_error("cannot write " + file);
    }
}

journal::~journal() {
    ::close(file_);
}

void journal::note(const char* what, const job_id& id, std::int64_t number) const {
    char line[160];
    const int size = std::snprintf(line, sizeof line, "%s %s %lld %lld\n", what, id.text().c_str(),
                                   static_cast<long long>(number), static_cast<long long>(steady_now()));
    if (::write(file_, line, static_cast<std::size_t>(size)) != size) {
        throw std::runtime_error("cannot write the journal");
    }
}

std::vector<event> read_journal(const std::string& file, const std::string& process) {
    std::vector<event> events;
    std::ifstream in{file};
    for (std::string line; std::getline(in, line);) {
        std::istringstream words{line};
        event e;
        std::string id;
        if (words >> e.what >> id >> e.number >> e.time) {
            e.id = job_id::parse(id).value_or(job_id{});
            e.process = process;
            events.push_back(std::move(e));
        }
    }
    return events;
}

namespace {

struct life {
    bool submitted = false;
    bool acknowledged = false;
    std::size_t outcomes = 0;
    std::vector<event> begins;
    std::vector<event> ends;
};

class checker {
public:
    checker(const std::map<std::string, std::int64_t>& kills, verdict& result)
        : kills_(kills), result_(result) {}

    void check(const job_id& id, life& job, const job_record* record) {
        const auto violated = [&](const std::string& what) {
            if (result_.violations.size() < 20) {
                result_.violations.push_back("job " + id.text() + ": " + what);
            }
        };
        result_.executions += job.begins.size();
        if (job.acknowledged && job.outcomes != 1) {
            // H1
            violated("acknowledged, and has " + std::to_string(job.outcomes) + " outcome(s)");
        }
        if (job.outcomes > 1) {
            violated("has " + std::to_string(job.outcomes) + " outcomes");  // H1
        }
        if (!job.submitted && !job.begins.empty()) {
            violated("executed, but never submitted");  // H2
        }
        std::sort(job.begins.begin(), job.begins.end(), [](auto& a, auto& b) { return a.time < b.time; });
        const int lost = record == nullptr ? 0 : record->crashes;
        for (std::size_t i = 1; i < job.begins.size(); ++i) {
            ++result_.repeated;
            const event& before = job.begins[i - 1];
            if (job.begins[i].number <= before.number) {
                violated("fence " + std::to_string(job.begins[i].number) + " after fence " +
                         std::to_string(before.number));  // H3
            }
            const auto kill = kills_.find(before.process);
            if (kill != kills_.end() && kill->second >= before.time) {
                result_.longest_recovery =
                    std::max(result_.longest_recovery,
                             static_cast<double>(job.begins[i].time - kill->second) / 1000.0);
            } else if (lost == 0) {
                violated("ran again without a kill or a lost lease");  // H4
            }
        }
        if (record == nullptr || !is_finished(record->state)) {
            // H5
            violated(record == nullptr ? "has no record" : "is " + std::string(to_string(record->state)));
        } else if (!job.begins.empty() && record->fence != job.begins.back().number) {
            violated("the record has fence " + std::to_string(record->fence) + ", the last execution " +
                     std::to_string(job.begins.back().number));
        }
    }

private:
    const std::map<std::string, std::int64_t>& kills_;
    verdict& result_;
};

}  // namespace

verdict check(const std::vector<event>& events, const std::map<std::string, std::int64_t>& kills,
              const std::vector<job_record>& records) {
    std::unordered_map<job_id, life> lives;
    for (const event& e : events) {
        life& job = lives[e.id];
        if (e.what == "submit") {
            job.submitted = true;
        } else if (e.what == "acknowledged") {
            job.acknowledged = true;
        } else if (e.what == "outcome") {
            ++job.outcomes;
        } else if (e.what == "begin") {
            job.begins.push_back(e);
        } else if (e.what == "end") {
            job.ends.push_back(e);
        }
    }
    std::unordered_map<job_id, const job_record*> by_id;
    for (const job_record& record : records) {
        by_id[record.id] = &record;
    }
    verdict result;
    checker each{kills, result};
    for (auto& [id, job] : lives) {
        result.submitted += job.acknowledged;
        result.outcomes += job.outcomes;
        const auto record = by_id.find(id);
        each.check(id, job, record == by_id.end() ? nullptr : record->second);
    }
    return result;
}

}  // namespace spool::remote_demo
