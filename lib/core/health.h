/* SPDX-License-Identifier: MIT */
/*
 * Which replicas a choice should spare: those whose answered copies are much slower than the
 * others', and those that fail. It looks at each replica in rounds, compares it with the median of
 * all, and knows three states:
 *
 *            a bad round                     enough good probes, or expired
 *   WELL  ----------------->  PROBATION  ------------------------------------>  RAMP
 *     ^                           ^                                             | |
 *     |                           `----- a bad round (twice as many probes) ----' |
 *     `---------------------------- the ramp is over -----------------------------'
 *
 * WELL        takes every call.
 * PROBATION   takes a probe each probe_ns, and comes back after `probes` good ones in a row. A
 *             probe that ends without a verdict, because it lost its race or was refused, is
 *             neutral, and another may soon follow [BE-11]. Without a bad probe for expire_ns the
 *             probation is over, whether or not a probe was ever answered [CL-22].
 * RAMP        takes a share of calls that rises from none to all in ramp_ns.
 *
 * At most out_max_ppm of the members are on probation; where members leave and it becomes more,
 * probation is suspended for all, since those that are left need each other [CL-22].
 *
 * A round lasts round_ns and min_samples copies at least: a pause that ends with many slow copies
 * at once makes up a part of one round and not all of many. A copy counts as at most twice the
 * limit, so a few that are very slow do not condemn a replica; about half of them must be slow. A
 * replica is failing when so many of its copies fail, and twice as many as of the median, or the
 * errors of a request that all replicas answer alike would put some of them on probation. A lost
 * race is neither success nor failure, however long it took; so a replica whose copies a hedge
 * always overtakes is not known to be slow: there the choice has its copies in flight to go by.
 *
 * How a choice uses it (core/pick.h). A filter and no weight: a weight would have to be traded
 * against load. While ti_health_is_calm () nothing is asked and no random number is drawn. Else:
 *  - the first copy, and any that a call cannot do without (re-issue, last try): what is not
 *    admitted is disliked as ti_pick_avoid's soft ones, taken if there is no other;
 *  - the second of a pair and a hedge: what is not admitted is not taken at all. A slow replica is
 *    idle, would start first, and its STARTED would drop the copy that waits at a good one.
 * A probe that is due is admitted; being idle it is the lightest of its sample, so it comes first
 * and its tied copy goes to a good replica. ti_health_sent () is told of each copy that is sent,
 * and one of answered, failed and neutral when it ends, whatever its state then. All of this is
 * of the client: with methods that differ much, `took` should be in relation to the method's usual
 * time (in a unit of, say, 1 ms for that), or the replica with more of the slow ones looks slow.
 *
 * Events cost O(1). One block, found by distance; integers; no clock.
 */
#ifndef TI_HEALTH_H
#define TI_HEALTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tied/types.h>

#include "core/median.h"

/* Most good probes that it can take to come back, in `probes`. */
#define TI_HEALTH_WANTED_MAX 16u

enum ti_health_state {
    TI_HEALTH_WELL = 0,
    TI_HEALTH_PROBATION,
    TI_HEALTH_RAMP
};

struct ti_health_options {
    tied_duration_t round_ns;      /* [1, 1 h] default 1 s */
    uint32_t min_samples;          /* [1, 1 << 20] of a round; default 20 */
    uint32_t slow_milli;           /* 0: off, or [1500, 1000 000] thousandths of the median: as slow
                                      as this is slow; default 4000 */
    tied_duration_t slow_floor_ns; /* [0, 1 h] less than this is never slow; default 1 ms */
    uint32_t failed_ppm;           /* 0: off, or [1, 1000 000] copies that fail; default 50 % */
    uint32_t out_max_ppm;          /* [0, 999 999] of the members; default 50 % */
    tied_duration_t probe_ns;      /* [1, 1 h] default 200 ms */
    uint32_t probes;               /* [1, 1000] default 3; up to 16 x after relapses */
    tied_duration_t ramp_ns;       /* [1, 1 h] default 10 s */
    tied_duration_t expire_ns;     /* [1, 24 h] default 60 s */
};

struct ti_health_replica {
    tied_time_t since;         /* when the state began; PROBATION: or the last bad probe ended */
    tied_time_t at;            /* the round began, PROBATION: the next probe may go */
    tied_duration_t sum;       /* of the round's answered copies, each cut to twice the limit */
    tied_duration_t latency;   /* smoothed mean of rounds; 0: not known */
    uint32_t answered, failed; /* in the round */
    uint32_t failing_ppm;      /* smoothed share of rounds, valid if is_known */
    uint16_t good;             /* PROBATION: good probes in a row */
    uint16_t wanted;           /* PROBATION: so many bring it back */
    uint8_t state;             /* enum ti_health_state */
    bool is_member;
    bool is_known;   /* a round is over */
    bool is_probing; /* PROBATION: a copy is on its way that has not ended */
};

/*
 * Invariants (ti_health_check):
 * 1. members, out, unwell are those of the replicas that are members;
 * 2. the medians are of members that are not on probation and of which the number is known;
 * 3. WELL, RAMP: good and is_probing are 0. PROBATION: there is no round, nothing is known.
 */
struct ti_health {
    struct ti_health_options options;
    size_t replicas; /* ti_health_replica [max], so far behind this struct */
    uint32_t max;
    uint32_t members;
    uint32_t out;                         /* on probation */
    uint32_t unwell;                      /* on probation or on the ramp */
    uint64_t probations, probes, returns; /* counted since creation */
    struct ti_median latency, failing;
};

void ti_health_options_init (struct ti_health_options *options);

size_t ti_health_size (uint32_t max);
/* array: ti_health_size (max) bytes in the same block behind self. */
void ti_health_init (struct ti_health *self,
                     void *array,
                     uint32_t max,
                     const struct ti_health_options *options);

/* It can be chosen from now on; it cannot. What is known of it stays. Twice is harmless. */
void ti_health_join (struct ti_health *self, uint32_t replica);
void ti_health_leave (struct ti_health *self, uint32_t replica);
/* Another process answers under its number: nothing is known. */
void ti_health_forget (struct ti_health *self, uint32_t replica);

/* All take every call. */
static inline bool ti_health_is_calm (const struct ti_health *self)
{
    return self->unwell == 0;
}

/* May this call go there? random: uniform in 32 bits. now must not go back, here and below. */
bool ti_health_admits (struct ti_health *self, uint32_t replica, uint32_t random, tied_time_t now);

/* A copy goes there. */
void ti_health_sent (struct ti_health *self, uint32_t replica, tied_time_t now);
/* A copy ended: answered after `took` from its own send; with an application error that counts as
 * a failure, or lost with its replica; or without saying anything of the replica. */
void ti_health_answered (struct ti_health *self,
                         uint32_t replica,
                         tied_duration_t took,
                         tied_time_t now);
void ti_health_failed (struct ti_health *self, uint32_t replica, tied_time_t now);
void ti_health_neutral (struct ti_health *self, uint32_t replica, tied_time_t now);

enum ti_health_state ti_health_state_of (const struct ti_health *self, uint32_t replica);

void ti_health_check (const struct ti_health *self);

#endif
