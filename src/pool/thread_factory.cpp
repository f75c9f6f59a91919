#include "spool/pool/thread_factory.hpp"

#include <utility>

#include "pool/thread_setup.hpp"
#include "spool/base/error.hpp"

namespace spool::inline v1 {
namespace {

class std_thread_handle final : public worker_thread::handle {
public:
    explicit std_thread_handle(std::thread thread) noexcept : thread_(std::move(thread)) {}
    void join() override { thread_.join(); }
    void detach() override { thread_.detach(); }

private:
    std::thread thread_;
};

void replace(std::string& text, const std::string& what, const std::string& with) {
    if (const std::size_t at = text.find(what); at != std::string::npos) {
        text.replace(at, what.size(), with);
    }
}

}  // namespace

worker_thread::handle::~handle() = default;

worker_thread::worker_thread(std::thread thread) {
    if (!thread.joinable()) {
        return;
    }
    try {
        handle_ = std::make_unique<std_thread_handle>(std::move(thread));
    } catch (...) {  // no memory for the handle: the thread runs, but cannot be joined
        if (thread.joinable()) {
            thread.detach();
        }
        throw;
    }
}
worker_thread::worker_thread(std::unique_ptr<handle> other) noexcept : handle_(std::move(other)) {}
worker_thread::worker_thread(worker_thread&&) noexcept = default;
worker_thread& worker_thread::operator=(worker_thread&&) noexcept = default;
worker_thread::~worker_thread() = default;

void worker_thread::join() {
    std::exchange(handle_, nullptr)->join();
}
void worker_thread::detach() {
    std::exchange(handle_, nullptr)->detach();
}

std::string worker_thread_name(const std::string& pattern, const worker_info& info, std::size_t limit) {
    const auto filled = [&](const std::string& pool) {
        std::string name = pattern;
        replace(name, "{pool}", pool);
        replace(name, "{number}", std::to_string(info.number));
        return name;
    };
    std::string name = filled(info.pool);
    if (name.size() > limit) {  // the pool's name gives way first
        const std::size_t excess = std::min(name.size() - limit, info.pool.size());
        name = filled(info.pool.substr(0, info.pool.size() - excess));
    }
    if (name.size() > limit) {  // then the front of the rest: the number stands at the end
        name.erase(0, name.size() - limit);
    }
    return name;
}

thread_factory worker_thread_factory(worker_thread_options options) {
    return [options = std::move(options)](task body, const worker_info& info) {
        return start_thread(options, std::move(body), info);
    };
}

}  // namespace spool::inline v1
