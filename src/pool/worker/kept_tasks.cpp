#include "pool/worker/kept_tasks.hpp"

#include <list>
#include <utility>

#include "pool/admission_path.hpp"
#include "pool/worker/task_runner.hpp"
#include "pool/worker/worker_wait_context.hpp"

namespace spool::inline v1 {

bool kept_tasks::run_or_keep(task& work, thrown_to whom) {
    worker* const self = worker_wait_context::of(&pool_);
    if (self == nullptr) {
        return false;
    }
    if (!self->has_stack_room()) {
        keep(*self, work);
        return true;
    }
    std::exception_ptr thrown;
    task_runner{pool_}.run_nested(*self, work, whom == thrown_to::caller ? &thrown : nullptr);
    if (thrown != nullptr) {
        std::rethrow_exception(thrown);
    }
    return true;
}

// Throws only for lack of memory, or what the clock throws; then `work` is untouched.
void kept_tasks::keep(worker& w, task& work) {
    std::list<task> one(1);
    static_cast<void>(pool_.backlog.publish(work));
    one.front() = std::move(work);
    w.kept.splice(w.kept.end(), one);
    w.needs_attention = true;
    pool_.backlog.add_kept();
}

bool kept_tasks::take(worker& w, task& next) noexcept {
    if (w.kept.empty()) {
        return false;
    }
    next = std::move(w.kept.front());
    w.kept.pop_front();
    pool_.backlog.remove_kept();
    return true;
}

void kept_tasks::run_all(worker& w) {
    for (task next; w.stage != worker_stage::detached && take(w, next);) {
        if (pool_.backlog.try_claim(next)) {
            task_runner{pool_}.run_nested(w, next);
        }
    }
}

void kept_tasks::give_away(worker& w) noexcept {
    pool_.config.guarded(w.info, [&] {
        while (!w.kept.empty() && accepts_tasks(pool_.control.load().state) &&
               admission_path{pool_}.try_requeue(w.kept.front())) {
            w.kept.pop_front();
            pool_.backlog.remove_kept();
        }
    });
}

}  // namespace spool::inline v1
