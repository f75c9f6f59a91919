#include "spool/executor/executor.hpp"

#include <stdexcept>

#include "spool/executor/submit.hpp"

namespace spool::inline v1 {

executor::~executor() = default;

void executor::execute_all(std::span<task> work) {
    for (task& one : work) {
        execute(std::move(one));
    }
}

const task_decorator* executor::decorator() const noexcept {
    return nullptr;
}

task detail::decorate(const task_decorator& decorator, task body) {
    task decorated = decorator(std::move(body));
    if (decorated.empty()) {
        throw std::invalid_argument("submit: the executor's decorator returned an empty task");
    }
    return decorated;
}

std::string executor::executor_label() const {
    return "executor";
}

}  // namespace spool::inline v1
