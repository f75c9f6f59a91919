// worker_locks: a locked file per worker of this process. The system releases the lock when the
// process ends, however it ends, and other processes see that.
#pragma once

#include <map>
#include <string>

namespace spool::inline v1::remote::detail {

class worker_locks {
public:
    explicit worker_locks(std::string prefix) : prefix_(std::move(prefix)) {}
    worker_locks(const worker_locks&) = delete;
    worker_locks& operator=(const worker_locks&) = delete;
    ~worker_locks();

    /// Locks the file of a worker of ours. \throws broker_error
    void hold(const std::string& worker);
    /// Unlocks and removes it.
    void release(const std::string& worker) noexcept;
    [[nodiscard]] bool holds(const std::string& worker) const { return files_.contains(worker); }
    /// Whether no process holds the lock of this worker. Says false when in doubt.
    [[nodiscard]] bool is_dead(const std::string& worker) const noexcept;
    void remove_file(const std::string& worker) const noexcept;

private:
    [[nodiscard]] std::string path_of(const std::string& worker) const { return prefix_ + worker; }

    std::string prefix_;
    std::map<std::string, int> files_;
};

}  // namespace spool::inline v1::remote::detail
