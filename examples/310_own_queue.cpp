// A custom queue: LIFO, for requests whose oldest callers have already timed out.
// prints: task 1\ntask 4\ntask 3\ntask 2\n
#include <algorithm>
#include <cstdio>
#include <latch>
#include <list>
#include <mutex>

#include <spool/spool.hpp>

// [own_queue]
template <class T>
class lifo final : public spool::blocking_queue<T> {
public:
    std::size_t size() const override {
        const std::lock_guard lock{mutex_};
        return elements_.size();
    }

protected:
    bool try_push(T& x) override {
        const std::lock_guard lock{mutex_};
        elements_.push_front(std::move(x));
        return true;
    }
    std::optional<T> try_pop() override {
        const std::lock_guard lock{mutex_};
        std::optional<T> newest;
        if (!elements_.empty()) {
            newest = std::move(elements_.front());
            elements_.pop_front();
        }
        return newest;
    }
    std::vector<T> extract_if(spool::function_ref<bool(const T&)> wanted) override {
        const std::lock_guard lock{mutex_};
        std::vector<bool> leaves(elements_.size());
        std::transform(elements_.begin(), elements_.end(), leaves.begin(), wanted);
        std::vector<T> out;
        out.reserve(elements_.size());  // the last call that can throw; no element has moved yet
        auto leave = leaves.begin();
        elements_.remove_if([&](T& x) { return *leave++ && (out.push_back(std::move(x)), true); });
        return out;
    }

private:
    mutable std::mutex mutex_;
    std::list<T> elements_;
};
// [/own_queue]

int main() {
    std::latch all_there{1};
    spool::thread_pool_executor pool({.core_size = 1, .queue = std::make_unique<lifo<spool::task>>()});
    for (const char* name : {"task 1", "task 2", "task 3", "task 4"}) {
        pool.execute([name, &all_there] { all_there.wait(), std::puts(name); });
    }
    all_there.count_down();
}
