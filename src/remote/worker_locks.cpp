#include "worker_locks.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "spool/remote/error.hpp"

namespace spool::inline v1::remote::detail {
namespace {

// Locks of the open file, not of the process: another connection of this process may look at the
// file without losing them.
bool try_lock(int file) noexcept {
    struct flock whole {};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    return fcntl(file, F_OFD_SETLK, &whole) == 0;
}

}  // namespace

worker_locks::~worker_locks() {
    for (const auto& [worker, file] : files_) {
        ::close(file);  // the file stays: whoever finds it unlocked knows that we are gone
    }
}

void worker_locks::hold(const std::string& worker) {
    if (holds(worker)) {
        return;
    }
    const int file = ::open(path_of(worker).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0660);
    if (file < 0 || !try_lock(file)) {
        const int error = errno;
        if (file >= 0) {
            ::close(file);
        }
        throw broker_error(error == ENOSPC ? broker_failure::out_of_space : broker_failure::unavailable,
                           "sqlite broker: cannot lock " + path_of(worker) + ": " + std::strerror(error));
    }
    files_.emplace(worker, file);
}

void worker_locks::release(const std::string& worker) noexcept {
    const auto found = files_.find(worker);
    if (found != files_.end()) {
        remove_file(worker);
        ::close(found->second);
        files_.erase(found);
    }
}

bool worker_locks::is_dead(const std::string& worker) const noexcept {
    if (holds(worker)) {
        return false;
    }
    const int file = ::open(path_of(worker).c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) {
        return errno == ENOENT;
    }
    const bool is_free = try_lock(file);
    ::close(file);
    return is_free;
}

void worker_locks::remove_file(const std::string& worker) const noexcept {
    ::unlink(path_of(worker).c_str());
}

}  // namespace spool::inline v1::remote::detail
