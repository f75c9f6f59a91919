// block_policy as a user would write it: only with what rejection_context offers.
#pragma once

#include <utility>

#include <spool/spool.hpp>

namespace test {

struct own_block_policy {
    spool::deadline until = spool::deadline::never();

    void operator()(spool::task&& work, spool::rejection_context& refusal) const {
        spool::task mine = std::move(work);
        if (refusal.reason() == spool::rejection_reason::full) {
            if (refusal.on_worker()) {
                refusal.run_here(mine, spool::rejection_context::thrown_to::uncaught);
                return;
            }
            if (refusal.wait_for_room(mine, until) == spool::admission_result::accepted) {
                return;
            }
        }
        throw refusal.error();
    }
};

}  // namespace test
