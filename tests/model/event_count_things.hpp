// What the models of event_count share: things to take, and the event_count to wait for them.
#pragma once

#include "model/explorer/atomics.hpp"
#include "spool/sync/event_count.hpp"

namespace model {

using events = spool::basic_event_count<parking>;

// Things to take, counted in a seq_cst word (pair (S)), which also publishes the plain `data`.
struct things {
    events ready;
    atomic<unsigned> count{0};
    plain<int> data{0};
    unsigned taken = 0;  // not part of the protocol

    void add() {
        count.fetch_add(1);  // N1
    }
    // Takes one thing. False: there is none.
    bool take() {
        unsigned now = count.load();  // W3
        while (now != 0) {
            if (count.compare_exchange_weak(now, now - 1)) {
                ++taken;
                return true;
            }
        }
        return false;
    }
};

}  // namespace model
