#include "pool/measure/pool_report.hpp"

namespace spool::inline v1 {

pool_reading detail::reading_of(pool& p) {
    pool_reading r;
    r.numbers = snapshot_of(p);
    r.settings_version = p.settings.version();
    r.rejection = name_of(p.settings.rejection());
    r.at = std::chrono::steady_clock::now();
    p.roster.read(r);
    r.taken_out = p.meter.taken_out();
    r.failed = p.meter.failed();
    r.blocked = p.meter.blocked();
    for (std::size_t i = 0; i < rejection_reasons; ++i) {
        r.rejected_by[i] = p.rejections.total(static_cast<rejection_reason>(i));
    }
    r.started = p.meter.follow(r.at, r.started, r.numbers.pool_size);
    r.period = p.meter.period();
    r.kinds = p.meter.kinds().read();
    return r;
}

std::vector<worker_reading> detail::workers_of(const pool& p) {
    return p.roster.read_workers(p.config.task_times, p.meter.kinds());
}

}  // namespace spool::inline v1
