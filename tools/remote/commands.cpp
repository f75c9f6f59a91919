#include "commands.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include "spool/remote/codec.hpp"
#include "spool/remote/connect.hpp"
#include "spool/remote/error.hpp"
#include "spool/remote/postgres_broker.hpp"

namespace spool::remote_demo {
namespace {

using namespace remote;

constexpr int exit_not_done = 1;
constexpr int exit_bad_input = 2;

struct remote_options {
    std::string address;
    std::string queue;
    std::string function;
    std::string state;
    std::string id;
    std::size_t limit = 20;
    double every = 0;
    bool resume = false;
};

std::string address_of(const remote_options& o) {
    const char* const variable = std::getenv("SPOOL_BROKER");
    if (o.address.empty() && variable == nullptr) {
        throw broker_error(broker_failure::misuse,
                           "name the broker by --broker or SPOOL_BROKER: sqlite:FILE or "
                           "postgres:CONNECTION");
    }
    return o.address.empty() ? variable : o.address;
}

job_id id_of(const remote_options& o) {
    const auto id = job_id::parse(o.id);
    if (!id) {
        throw broker_error(broker_failure::misuse,
                           "\"" + o.id + "\" is no job id: an id has 32 hexadecimal digits");
    }
    return *id;
}

std::string age(server_time then, server_time now) {
    const double seconds = std::chrono::duration<double>(now - then).count();
    return seconds < 120 ? fmt::format("{:.1f} s", seconds) : fmt::format("{:.0f} min", seconds / 60);
}

// Foreign text must not change the terminal.
std::string printable(const std::string& text) {
    std::string clean;
    for (const char c : text) {
        clean += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
    }
    return clean;
}

std::string shown(const bytes& data) {
    if (data.empty()) {
        return "-";
    }
    try {
        return detail::parse_cbor(data, {}).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    } catch (const codec_error&) {
        return fmt::format("{} bytes that are no CBOR", data.size());
    }
}

void print_queues(broker& b) {
    fmt::print("{:<24} {:>8} {:>8} {:>8} {:>10} {:>8} {:>9} {:>6}  {}\n", "queue", "delayed", "queued",
               "running", "succeeded", "failed", "cancelled", "dead", "settings");
    std::vector<std::string> names;
    for (const queue_record& q : b.queues()) {
        names.push_back(q.queue);
        const std::string settings = q.settings.paused     ? "paused"
                                     : q.settings.rate > 0 ? fmt::format("{}/s", q.settings.rate)
                                                           : "";
        fmt::print("{:<24} {:>8} {:>8} {:>8} {:>10} {:>8} {:>9} {:>6}  {}\n", printable(q.queue), q.delayed,
                   q.queued, q.running, q.succeeded, q.failed, q.cancelled, q.dead, settings);
    }
    fmt::print("\n{} worker(s)\n", b.workers().size());
    for (const worker_record& w : b.workers()) {
        fmt::print("  {:<30} {}\n", printable(w.name),
                   printable(fmt::format("{}", fmt::join(w.functions, ", "))));
    }
    for (const std::string& function : b.unserved(names)) {
        fmt::print("no worker has function \"{}\", and jobs of it are queued\n", printable(function));
    }
}

int top(const remote_options& o) {
    const auto b = connect(address_of(o));
    while (true) {
        print_queues(*b);
        if (o.every <= 0) {
            return 0;
        }
        std::fflush(stdout);
        std::this_thread::sleep_for(std::chrono::duration<double>(o.every));
        fmt::print("\n");
    }
}

int list(const remote_options& o) {
    look_filter filter{.queue = o.queue, .function = o.function, .limit = o.limit, .payloads = false};
    if (!o.state.empty()) {
        const auto state = parse_job_state(o.state);
        if (!state) {
            throw broker_error(broker_failure::misuse, "\"" + o.state +
                                                           "\" is no state: delayed, queued, running, "
                                                           "succeeded, failed, cancelled or dead");
        }
        filter.states = {*state};
    }
    const auto b = connect(address_of(o));
    const server_time now = b->now();
    for (const job_record& job : b->look(filter)) {
        fmt::print("{}  {:<9}  {:<16}  {:<16}  {:>9} old  {}\n", job.id.text(), to_string(job.state),
                   printable(job.queue), printable(job.function), age(job.created_at, now),
                   printable(job.error_text));
    }
    return 0;
}

int show(const remote_options& o) {
    const auto b = connect(address_of(o));
    const auto found = b->look({.ids = {id_of(o)}});
    if (found.empty()) {
        fmt::print(stderr, "spool: the broker does not know job {}\n", o.id);
        return exit_not_done;
    }
    const job_record& job = found.front();
    const server_time now = b->now();
    fmt::print("job        {}\nfunction   {}\nqueue      {}\nstate      {}{}\n", job.id.text(),
               printable(job.function), printable(job.queue), to_string(job.state),
               job.cancel_requested ? ", stop requested" : "");
    fmt::print(
        "key        {}\npriority   {}\nerrors     {} of {}\ncrashes    {}\nfence      {}\nworker     {}\n",
        job.key.empty() ? "-" : printable(job.key), job.priority, job.attempt, job.retries + 1, job.crashes,
        job.fence, job.worker.empty() ? "-" : printable(job.worker));
    fmt::print("created    {} ago\narguments  {}\nresult     {}\n", age(job.created_at, now), shown(job.args),
               shown(job.result));
    if (!job.error_type.empty()) {
        fmt::print("error      {}: {}\n", printable(job.error_type), printable(job.error_text));
    }
    return 0;
}

int retry(const remote_options& o) {
    if (!connect(address_of(o))->retry(id_of(o))) {
        fmt::print(stderr, "spool: job {} is not failed, cancelled or dead, or its key is taken\n", o.id);
        return exit_not_done;
    }
    return 0;
}

int cancel(const remote_options& o) {
    switch (connect(address_of(o))->cancel(id_of(o))) {
        case cancel_status::cancelled: fmt::print("cancelled\n"); return 0;
        case cancel_status::stop_requested: fmt::print("running; its worker is asked to stop it\n"); return 0;
        case cancel_status::already_finished: fmt::print(stderr, "spool: the job is finished\n"); break;
        case cancel_status::unknown:
            fmt::print(stderr, "spool: the broker does not know job {}\n", o.id);
            break;
    }
    return exit_not_done;
}

int pause(const remote_options& o) {
    const auto b = connect(address_of(o));
    queue_settings settings;
    for (const queue_record& q : b->queues()) {
        settings = q.queue == o.queue ? q.settings : settings;
    }
    settings.paused = !o.resume;
    b->configure(o.queue, settings);
    return 0;
}

int migrate(const remote_options& o) {
    const std::string address = address_of(o);
    if (address.starts_with("postgres:")) {
        fmt::print("the schema has version {}\n", migrate_postgres({.connection = address.substr(9)}));
    } else {
        static_cast<void>(connect(address));  // creates or checks the schema
        fmt::print("the schema is up to date\n");
    }
    return 0;
}

}  // namespace

void add_remote_commands(CLI::App& program, int& exit_code) {
    CLI::App* const remote = program.add_subcommand("remote", "Shows and changes the jobs of a broker.");
    remote->require_subcommand(1);
    auto o = std::make_shared<remote_options>();
    remote->add_option("--broker", o->address, "sqlite:FILE or postgres:CONNECTION; else SPOOL_BROKER");
    const auto add = [&](const char* name, const char* text, int (*run)(const remote_options&)) {
        CLI::App* const command = remote->add_subcommand(name, text);
        command->callback([o, run, &exit_code] {
            try {
                exit_code = run(*o);
            } catch (const broker_error& e) {
                std::fflush(stdout);
                fmt::print(stderr, "spool: {}\n", e.what());
                exit_code = e.failure() == broker_failure::misuse ? exit_bad_input : exit_not_done;
            }
        });
        return command;
    };
    add("top", "Queues, counts and workers.", top)->add_option("--every", o->every, "Repeats; in seconds");
    CLI::App* const listing = add("list", "Jobs, newest first.", list);
    listing->add_option("--queue", o->queue, "Only of this queue");
    listing->add_option("--function", o->function, "Only of this function");
    listing->add_option("--state", o->state, "Only in this state");
    listing->add_option("--limit", o->limit, "At most so many")->capture_default_str();
    add("show", "One job, with arguments and result.", show)->add_option("id", o->id, "The job")->required();
    add("retry", "Queues a failed, cancelled or dead job again.", retry)
        ->add_option("id", o->id, "The job")
        ->required();
    add("cancel", "Cancels a job.", cancel)->add_option("id", o->id, "The job")->required();
    CLI::App* const pausing = add("pause", "Pauses a queue.", pause);
    pausing->add_option("queue", o->queue, "The queue")->required();
    pausing->add_flag("--resume", o->resume, "Lets it go on");
    add("migrate", "Creates the schema, or brings it to this program's version.", migrate);
}

}  // namespace spool::remote_demo
