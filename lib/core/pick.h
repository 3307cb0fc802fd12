/* SPDX-License-Identifier: MIT */
/*
 * Choice of replicas: the two least loaded of a random sample, lighter one first, or the next in
 * turn, or those that a key belongs to; never the same instance twice. It changes nothing but the
 * order of the list of usable replicas, the generator and the turn; what "usable" means is the
 * owner's business.
 *
 * Zones and health make some of the usable ones less wanted, and have a slower way of their own
 * (dislike () in pick.c): where no replica has a zone and all are well, they cost nothing.
 *
 * Affinity is rendezvous hashing (Thaler and Ravishankar, "Using Name-Based Mappings to Increase
 * Hit Rates", IEEE/ACM ToN 1998): each replica has a weight for each key, and the heaviest is
 * taken. When one leaves, only its own keys move, each to its second heaviest, where their copy 1
 * has been all the time.
 */
#ifndef TI_PICK_H
#define TI_PICK_H

#include <tied/client_core.h>

#include "base/prng.h"
#include "core/delay.h"
#include "core/fifo.h"
#include "core/health.h"
#include "core/load.h"

/* What the client core knows of a replica. The first line is all that a choice reads. */
struct ti_replica {
    uint64_t incarnation;  /* 0: not known */
    tied_time_t load_at;   /* when load came; 0: never */
    struct tied_load load; /* last report */
    uint32_t in_flight;    /* own live copies that are not doomed */
    uint32_t generation;   /* rises when all live copies are doomed: copies of others are lost */
    uint8_t state;         /* enum tied_replica_state */
    uint8_t misses;        /* silent intervals in a row */
    uint8_t modes;         /* that it announced, set of TIED_WIRE_MODE_BIT */
    uint8_t avoid_beats;   /* it refused as draining: not used for so many heartbeats */
    bool is_heard;         /* since the last heartbeat */
    bool is_usable;        /* in the list of usable replicas */
    uint32_t zone;         /* 0: not known */
    uint64_t identity;     /* AFFINITY: the same for all clients */
    struct ti_delay delay;
    struct ti_fifo fifo;
};

struct ti_pick {
    const struct ti_replica *replicas;
    uint32_t *usable; /* permuted by every choice */
    uint32_t usable_count;
    uint32_t replica_count; /* ROUND_ROBIN: of replicas, usable or not */
    uint32_t *turn;         /* ROUND_ROBIN: index to begin at, modulo replica_count */
    uint32_t rule;          /* enum tied_pick */
    uint32_t samples;       /* looked at per choice */
    const struct ti_load_scale *scale;
    uint64_t mean;            /* of the reports of all, as ti_load_mean () */
    uint64_t key;             /* AFFINITY */
    struct ti_health *health; /* NULL: all take every call */
    bool has_zones;           /* some replica has one */
    struct ti_prng *prng;
    tied_time_t now;
};

/* Where a further copy should not go. */
struct ti_pick_avoid {
    uint32_t zone;  /* rather not to this zone; 0: to any */
    bool is_spared; /* the call can do without it: only where health admits it (health.h) */
    uint64_t soft[TIED_COPIES_MAX + 1]; /* incarnations: only if there is no other */
    uint64_t hard[TIED_COPIES_MAX + 1]; /* incarnations: never */
    uint32_t soft_count;
    uint32_t hard_count;
};

/* A pair of different instances, the second rather in another zone; *out_second is TIED_NO_REPLICA
 * if there is only one instance, both are if there is none (or, of the second, none that health
 * admits). */
void ti_pick_pair (const struct ti_pick *self, uint32_t *out_first, uint32_t *out_second);

/* One replica. What is avoided does not count as a sample, but it looks at no more than 64.
 * TIED_NO_REPLICA if there is none. avoid may be NULL. */
uint32_t ti_pick_one (const struct ti_pick *self, const struct ti_pick_avoid *avoid);

#endif
