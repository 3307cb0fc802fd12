/* SPDX-License-Identifier: MIT */
/*
 * Keep a worker of a tied-replica busy until the test says otherwise. The replica must run `work`
 * for as long as OCCUPY_SERVICE says; giving up the call ends it at once.
 */
#ifndef TIED_TEST_OCCUPY_H
#define TIED_TEST_OCCUPY_H

#include "cluster.h"

#define OCCUPY_SERVICE "sleep:fixed(60s)"
/* Number of the call that does it: the clients of a test share one epoch. */
#define OCCUPY_CALL UINT64_C (0xb10c)

static inline void occupy (struct cluster *cluster, uint32_t index, struct wire_client *blocker)
{
    struct tied_message work = wire_request (OCCUPY_CALL, 0, "work", "", 0);
    uint64_t before = cluster_stat (cluster, index, "executed");

    wire_open (blocker, cluster->nodes[index].client);
    wire_send (blocker, &work);
    cluster_await (cluster, index, "executed", before + 1);
}

static inline void release (struct wire_client *blocker)
{
    struct tied_message cancel = wire_cancel (OCCUPY_CALL, TIED_CANCEL_CALLER);

    wire_send (blocker, &cancel);
    wire_expect (blocker, TIED_WIRE_REPLY);
    wire_close (blocker);
}

#endif
