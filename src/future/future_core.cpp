#include "spool/future/detail/future_core.hpp"
#include "spool/detail/pause_point.hpp"

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>

#if __has_include(<cxxabi.h>)
#include <cxxabi.h>
#endif

#include "base/thread_sanitizer_active.hpp"
#include "spool/base/error.hpp"
#include "spool/detail/future_link.hpp"
#include "spool/sync/this_task.hpp"

namespace spool::inline v1::detail {
namespace {

// The address of this thread's mark names the thread in a word that says `completing`.
struct alignas(8) thread_mark {};
constinit thread_local thread_mark this_thread_mark;

std::string readable(const std::type_info& type) {
#if __has_include(<cxxabi.h>)
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> name{
        abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), &std::free};
    if (status == 0) {
        return name.get();
    }
#endif
    return type.name();
}

}  // namespace

// The Host of future_steps.
class future_core::host {
public:
    explicit host(future_core& core) noexcept : core_(core) {}

    [[nodiscard]] future_word look() const noexcept { return core_.word(); }
    void destroy_callable() noexcept { core_.destroy_callable(); }
    void cancelled_before_start() noexcept {
        if (const listed_ops* const list = core_.listed(); list != nullptr) {
            list->cancelled(core_);
        }
    }
    void interrupt(future_word running) { interrupted = running.who<task_scope>()->interrupt(); }
    [[nodiscard]] static bool ends_here(future_word seen) noexcept {
        const auto* const scope = seen.now() == phase::running ? seen.who<task_scope>() : nullptr;
        return scope != nullptr && task_scope::is_open_here(scope) && scope->has_body_ended();
    }

    std::stop_source interrupted{std::nostopstate};

private:
    future_core& core_;
};

struct future_core::steps {
    explicit steps(future_core& core) noexcept : own(core), all(core.word_, core.waiters_, own) {}
    steps(const steps&) = delete;
    steps& operator=(const steps&) = delete;
    auto* operator->() noexcept { return &all; }

    host own;
    future_steps<std::atomic<future_word>, done_event, host> all;
};

const void* future_core::mark_of_this_thread() noexcept {
    return &this_thread_mark;
}

// ---- Lifetime

future_core::~future_core() {
    if (word().now() == phase::failed) {
        const unwatched_release quiet;  // another thread may still handle the same exception
        std::destroy_at(&error_);
    }
}

void future_core::drop_reference() noexcept {
    SPOOL_PAUSE_POINT("future: about to drop a reference");
    // acq_rel: every other holder's use of the state happens before its destruction here
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        if (is_thread_sanitizer_active()) [[unlikely]] {
            receive_in_library(this);
        }
        delete this;
    }
}

void future_core::drop_handle() noexcept {
    // acq_rel: release pairs with is_last_handle(), acquire with earlier calls of drop_handle()
    if (handles_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        drop_reference();
    }
}

void future_core::drop_runner() noexcept {
    // A waiter that has claimed the body will run it: this is then only the stale entry.
    if (word().now() == phase::idle && !claimed_by_waiter()) {
        try {
            cancel(cancel_mode::let_run);
        } catch (...) {  // from an on_done callback; destructors call this
            report_uncaught("an on_done callback of the " + describe(), std::current_exception());
        }
    }
    drop_reference();
}

// ---- Running

void future_core::run() {
    std::optional<task_scope> own;
    task_scope* scope = task_scope::adopt();
    if (scope == nullptr) {
        scope = &own.emplace();
    }
    if (steps { *this } -> start(scope)) {
        run_body(*scope);
    }
}

bool future_core::run_and_reset() {
    std::optional<task_scope> own;
    task_scope* scope = task_scope::adopt();
    if (scope == nullptr) {
        scope = &own.emplace();
    }
    if (!steps { *this } -> start(scope)) {
        return false;
    }
    std::exception_ptr error;
    try {
        run_body_and_forget();
    } catch (...) {
        error = std::current_exception();
    }
    // Outside the catch block, so that this thread holds no reference to a published exception.
    if (error != nullptr) {
        fail_after_run(*scope, std::move(error));
        return false;
    }
    if (steps { *this } -> start_over(scope)) {
        return true;
    }
    static_cast<void>(claim_after_run(*scope));  // cannot claim; for I3, and to await cancel() (I2)
    return false;
}

bool future_core::claim_after_run(task_scope& scope) noexcept {
    scope.set_body_phase(task_scope::body_phase::ended);
    destroy_callable();  // I3
    scope.set_body_phase(task_scope::body_phase::running);
    return steps {
        *this
        } -> claim_after_run(&scope, &this_thread_mark);
}

void future_core::fail_after_run(task_scope& scope, std::exception_ptr error) {
    if (claim_after_run(scope)) {
        if (nested_waiter* const here = nested_waiter::current()) {
            here->body_failed();
        }
        finish_failed(std::move(error));
    }
}

// ---- Reading

future_state future_core::state() const noexcept {
    switch (word().now()) {
        case phase::idle: return future_state::pending;
        case phase::running:
        case phase::interrupting:
        case phase::completing: return future_state::running;
        case phase::succeeded: return future_state::succeeded;
        case phase::failed: return future_state::failed;
        case phase::cancelled: break;
    }
    return future_state::cancelled;
}

std::string future_core::describe() const {
    const std::string text = "future of task " + std::to_string(id_);
    switch (state()) {
        case future_state::pending:
            return text + ": not completed, not started, body " + readable(body_type());
        case future_state::running: return text + ": not completed, running, body " + readable(body_type());
        case future_state::succeeded: return text + ": completed normally";
        case future_state::failed: return text + ": completed exceptionally: " + spool::describe(error_);
        case future_state::cancelled: break;
    }
    return text + ": cancelled";
}

wait_result future_core::wait(const wait_limits& limits) {
    return steps {
        *this
        } -> wait(limits);
}

void future_core::wait_or_throw(const char* call) {
    if (!is_done()) {
        wait_or_throw(this_task::stop_token(), call);
    }
}

void future_core::wait_or_throw(std::stop_token stop, const char* call) {
    if (!is_done() && !stop.stop_requested()) {
        help_out(stop);
    }
    static_cast<void>(wait_in_time(deadline::never(), std::move(stop), call));
}

// A worker that waits without limit for an unstarted task of its own pool runs the task here.
void future_core::help_out(const std::stop_token& stop) {
    for (nested_waiter* worker = nested_waiter::current(); worker != nullptr && now() == phase::idle;
         worker = worker->outer()) {
        if (!worker->may_run_here(id())) {
            continue;
        }
        if (const listed_ops* const list = listed(); list != nullptr) {
            if (task mine = list->try_take(*this, worker->home()); !mine.empty()) {
                worker->run_here(std::move(mine), stop);
            }
        } else if (claim_by_waiter(worker->home())) {
            worker->run_here(future_link{*this}, stop);
        }
    }
}

// True if this thread runs the body or writes the outcome in an outer frame: a self-deadlock.
bool future_core::depends_on_caller() const noexcept {
    const future_word seen = word();
    switch (seen.now()) {
        case phase::running: return task_scope::is_open_here(seen.who<task_scope>());
        case phase::completing: return seen.who<thread_mark>() == &this_thread_mark;
        default: return false;
    }
}

bool future_core::wait_in_time(deadline until, const char* call) {
    return is_done() || wait_in_time(until, this_task::stop_token(), call);
}

bool future_core::wait_in_time(deadline until, std::stop_token stop, const char* call) {
    if (is_done()) {
        return true;
    }
    if (until.is_never() && depends_on_caller()) {
        throw std::logic_error(std::string{call} + ": the task would wait for itself: " + describe());
    }
    // Only a caller that has to wait reads the clock.
    future_waits& lately = waits_of_this_thread();
    const auto since = deadline::clock::now();
    auto spin = is_spinning_worthwhile(since) ? lately.next_spin() : std::chrono::nanoseconds{0};
    const auto sleep = [&](const wait_limits& limits) {
        const auto spin_now = std::exchange(spin, std::chrono::nanoseconds{0});
        return wait({.until = limits.until, .stop = limits.stop, .spin = spin_now});
    };
    const future_link own{*this};
    const wait_result how = until.is_never() ? nested_waiter::wait_here(std::span{&own, 1}, stop, sleep)
                                             : sleep({.until = until, .stop = stop});
    lately.record(deadline::clock::now() - since);
    if (how == wait_result::interrupted) {
        throw interrupted(std::string{call} + ": stop requested while waiting for the " + describe());
    }
    return how == wait_result::ready;
}

// Once a pool holds the task, only a worker of that pool completes the future, or cancel() does.
future_link::place future_core::whereabouts() const {
    const future_word seen = word();
    const void* const start = start_.load();
    const home_use use = use_of(start);
    if (seen.now() == phase::running && (use == home_use::in_hand || use == home_use::claimed)) {
        return {future_link::whereabout::running, nullptr, seen.who<task_scope>()};
    }
    if (seen.now() != phase::idle || start == nullptr || start == out_mark() || use == home_use::in_hand ||
        use == home_use::claimed) {
        return {};
    }
    if (const listed_ops* const list = listed(); list != nullptr) {
        return list->place(*this);
    }
    return {.where = future_link::whereabout::queued,
            .home = home_of(start),
            .ready = use == home_use::kept ? future_link::readiness::unknown : future_link::readiness::due};
}

// ---- The start word: the address of `out` is no pool's

namespace {
alignas(4) constinit std::byte out{};
}
const void* future_core::out_mark() noexcept {
    return &out;
}

// ---- Completing

bool future_core::claim_by_hand() noexcept {
    return steps {
        *this
        } -> claim_by_hand(&this_thread_mark);
}

bool future_core::set_exception(std::exception_ptr error) {
    if (!claim_by_hand()) {
        return false;
    }
    finish_failed(std::move(error));
    return true;
}

// cancel() requests the stop, which calls user callbacks, after the word is final. It does so on a
// copy of the stop source: by then the scope may belong to another task.
bool future_core::cancel(cancel_mode mode) {
    steps way{*this};
    if (!way->cancel(mode, &this_thread_mark)) {
        return false;
    }
    request_stop_of(way.own.interrupted);
    call_back();
    return true;
}

void future_core::finish(phase final) {
    steps {
        *this
        } -> publish(final);
    call_back();
}

// ---- Callbacks

future_core::callback_node* future_core::closed() noexcept {
    // Only the address matters. Plain bytes: the library destroys nothing at exit.
    alignas(callback_node) static constinit std::byte marker{};
    return reinterpret_cast<callback_node*>(&marker);
}

future_core::callback_ptr future_core::prepare(task callback) {
    return std::make_unique<callback_node>(callback_node{std::move(callback), nullptr});
}

void future_core::on_done(callback_ptr node) {
    callback_node* head = callbacks_.load();
    do {
        if (head == closed() || is_lost()) {  // is_lost(): earlier callbacks are lost too
            receive_in_library(this);
            node->call();
            return;
        }
        node->next = head;
    } while (!callbacks_.compare_exchange_weak(head, node.get()));
    static_cast<void>(node.release());  // the list owns the node now
}

void future_core::call_back() {
    SPOOL_PAUSE_POINT("future: about to call back");
    callback_node* newest = callbacks_.exchange(closed());
    if (newest == nullptr) {
        return;
    }
    // A callback may drop the last reference that kept this state alive.
    add_reference();
    const std::unique_ptr<future_core, void (*)(future_core*)> keep{
        this, [](future_core* self) { self->drop_reference(); }};
    callback_node* oldest = nullptr;
    while (newest != nullptr) {  // reverse the list: callbacks run in registration order
        callback_node* const node = std::exchange(newest, newest->next);
        node->next = std::exchange(oldest, node);
    }
    std::exception_ptr first;
    while (oldest != nullptr) {
        const std::unique_ptr<callback_node> node{std::exchange(oldest, oldest->next)};
        try {
            node->call();
        } catch (...) {
            if (first == nullptr) {
                first = std::current_exception();
            } else {
                report_uncaught("a further on_done callback of the " + describe(), std::current_exception());
            }
        }
    }
    if (first != nullptr) {
        std::rethrow_exception(first);
    }
}

}  // namespace spool::inline v1::detail
