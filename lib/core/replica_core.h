/* SPDX-License-Identifier: MIT */
/*
 * Inside of the replica core: its struct and what its files share. Each calls those below it:
 *
 *   replica_core.c      dispatches; replica_create.c makes the core
 *   replica_arrive.c    a copy arrives       replica_run.c     it starts and ends
 *   replica_cancel.c    what others say      replica_time.c    what time alone brings about
 *   replica_exclusive.c, replica_park.c      what these two modes add
 *   replica_copy.c      a copy that waits goes back to the queue, or leaves without a run
 *   replica_act.c       how an action is made
 *
 * replica_check.c states the invariants.
 */
#ifndef TI_REPLICA_CORE_H
#define TI_REPLICA_CORE_H

#include <tied/replica_core.h>

#include "core/admit.h"
#include "core/clients.h"
#include "core/exclusive.h"
#include "core/queue.h"
#include "core/recent.h"

/* Copies of one call that can be here at once: copy numbers have 8 bits. */
#define TI_REPLICA_COPIES_MAX 256
/* Expired copies answered by one TAKE, copies and clients purged by one step. */
#define TI_REPLICA_TAKE_MAX  32
#define TI_REPLICA_PURGE_MAX 32
/* Waiting copies looked at by one step of the sweep, and the time between two sweeps. */
#define TI_REPLICA_SWEEP_MAX       64
#define TI_REPLICA_SWEEP_PERIOD_NS TIED_MS (50)
/* Parked copies and claims looked at by one step. */
#define TI_REPLICA_ASIDE_MAX 16
/* Silent clients moved on and old notes removed by one step. */
#define TI_REPLICA_LOOK_MAX 32
#define TI_REPLICA_AGE_MAX  64
/* With fewer copies waiting all that a removal touches is in the cache as it is. */
#define TI_REPLICA_EXPECT_DEPTH 8192
/* Most actions of one step. TIMEOUT: three per purged copy, two per swept copy and per one that was
 * aside. CANCEL: one per copy of the call. The others make fewer. */
#define TI_REPLICA_ACTIONS_MAX 256

struct tied_replica_core {
    struct tied_replica_core_options options;
    struct tied_replica_counters counters;
    tied_time_t now; /* of the last step */
    bool is_draining;
    struct ti_admit admit;
    struct ti_queue queue;
    struct ti_recent recent;
    struct ti_clients clients;
    size_t peers; /* offset of uint8_t[peers_max]: 1 if the link to the peer is up */

    /* Sweep over waiting copies whose time has run out. */
    uint32_t sweep_cursor; /* next copy to look at; TI_SLOT_NONE between two sweeps */
    tied_time_t
        sweep_earliest; /* no waiting copy that was looked at or came since expires sooner */
    tied_time_t sweep_not_before;
    /* Notes age in batches, so that they do not each cost a wake-up. */
    tied_time_t age_not_before;

    size_t actions; /* offset of struct tied_replica_action[actions_max] */
    uint32_t actions_max;
    uint32_t actions_made;
    uint32_t actions_taken;
};

/* Append an action; all but its type is zero. */
struct tied_replica_action *ti_replica_act (tied_replica_core_t *self,
                                            enum tied_replica_action_type type);

struct tied_load ti_replica_load (const tied_replica_core_t *self);

void ti_replica_count_rejected (tied_replica_core_t *self, enum tied_reject reason);
/* Answer no; counts nothing. slot: UINT32_MAX if the copy has none. */
void ti_replica_reject (tied_replica_core_t *self,
                        uint32_t slot,
                        uint32_t client,
                        struct tied_call_id call,
                        uint8_t copy,
                        enum tied_reject reason);

/* The arrival of a copy. */
void ti_replica_request (tied_replica_core_t *self, const struct tied_replica_request *request);
/* A word of this client. @return how long it was on the way beyond the usual; 0 if that cannot be
 * said, as of epoch 0 */
tied_duration_t ti_replica_client_seen (tied_replica_core_t *self,
                                        uint32_t client,
                                        uint64_t epoch,
                                        uint64_t sent_us);

/* Its run. */
void ti_replica_take (tied_replica_core_t *self);
void ti_replica_finish (tied_replica_core_t *self, uint32_t slot);

/* A copy that waits, which is here: queued or aside. */
/* A tied or exclusive copy has come to its end. */
void ti_replica_note_end (tied_replica_core_t *self,
                          const struct ti_slot *copy,
                          enum ti_note_kind kind);
/* A waiting copy leaves in silence, counted as dropped. */
void ti_replica_drop (tied_replica_core_t *self, uint32_t slot);
/* A waiting copy leaves because its time ran out, and its client is told. */
void ti_replica_expire (tied_replica_core_t *self, uint32_t slot);
/* A waiting copy leaves, and its client is told that it is refused. */
void ti_replica_turn_away (tied_replica_core_t *self, uint32_t slot, enum tied_reject reason);
/* The sweep shall not stand on a queued copy that is about to leave its lane. */
void ti_replica_pass_sweep (tied_replica_core_t *self, uint32_t slot);
/* A copy that is aside goes to the head of the queue. */
void ti_replica_return (tied_replica_core_t *self, uint32_t slot);
/* A waiting copy leaves because its client is leaving: in silence if the connection is gone, else
 * with an answer, for the client may only have been stopped. */
void ti_replica_orphan (tied_replica_core_t *self, uint32_t slot);
/* Raise the cancel flag of a running copy, once. */
void ti_replica_flag (tied_replica_core_t *self, uint32_t slot, enum tied_cancel reason);

/* What others say about a copy. */
void ti_replica_cancel (tied_replica_core_t *self,
                        uint32_t client,
                        struct tied_call_id call,
                        uint8_t reason);
void ti_replica_started (tied_replica_core_t *self, struct tied_call_id call, uint8_t sender_copy);
void ti_replica_untie (tied_replica_core_t *self, struct tied_call_id call, uint8_t sender_copy);
void ti_replica_send_failed (tied_replica_core_t *self,
                             struct tied_call_id call,
                             uint8_t copy,
                             bool is_untie);

/* Mode park. since: when the sibling is known to have started. */
bool ti_replica_can_park (const tied_replica_core_t *self);
void ti_replica_park (tied_replica_core_t *self, uint32_t slot, tied_time_t since);
void ti_replica_unpark (tied_replica_core_t *self, uint32_t slot);
void ti_replica_unpark_call (tied_replica_core_t *self, struct tied_call_id call);
void ti_replica_peer_lost (tied_replica_core_t *self, uint32_t peer);
void ti_replica_done (tied_replica_core_t *self, struct tied_call_id call, uint8_t sender_copy);
bool ti_replica_park_is_due (const tied_replica_core_t *self);
void ti_replica_park_look (tied_replica_core_t *self); /* at the first one, which is due */

/* Mode exclusive. */
void ti_replica_claim (tied_replica_core_t *self, uint32_t slot);
void ti_replica_claimed (tied_replica_core_t *self, const struct ti_claim *claim);
void ti_replica_granted (tied_replica_core_t *self,
                         uint32_t peer,
                         struct tied_call_id call,
                         uint8_t sender_copy);
void ti_replica_denied (tied_replica_core_t *self,
                        uint32_t peer,
                        struct tied_call_id call,
                        uint8_t sender_copy);
bool ti_replica_claim_is_due (const tied_replica_core_t *self);
void ti_replica_claim_look (tied_replica_core_t *self); /* at the first one, which is due */

/* The sibling's UNTIE has reached this copy, which may be aside. */
void ti_replica_untied (tied_replica_core_t *self, uint32_t slot);

/* What time brings about. */
void ti_replica_purge (tied_replica_core_t *self); /* copies of clients that are gone, bounded */
void ti_replica_timeout (tied_replica_core_t *self);

/* A newcomer needs a place: who has had nothing here for longest goes. */
void ti_replica_evict (tied_replica_core_t *self);

static inline bool ti_replica_peer_is_up (const tied_replica_core_t *self, uint32_t peer)
{
    return TI_AT_CONST (uint8_t, self, self->peers)[peer] != 0;
}

#endif
