/* SPDX-License-Identifier: MIT */
/*
 * Random numbers by name instead of by order: a draw is a hash of (seed, stream, a, b), so that the
 * same call meets the same demand whatever a policy does in between (common random numbers), and no
 * purpose shifts another.
 */
#ifndef SIM_STREAM_H
#define SIM_STREAM_H

#include <stdint.h>

#include "base/util.h"

enum sim_stream {
    SIM_STREAM_ARRIVALS = 1, /* a: number of the draw */
    SIM_STREAM_CLIENT,       /* a: request; which client sends it */
    SIM_STREAM_SERVICE,      /* a: call, b: replica, or SIM_STREAM_SHARED */
    SIM_STREAM_COPY,         /* a: call, b: replica; shares the common draw? */
    SIM_STREAM_SLOWDOWN,     /* a: call, b: replica */
    SIM_STREAM_JITTER,       /* a: call, b: replica */
    SIM_STREAM_SPEED,        /* a: replica, b: segment */
    SIM_STREAM_PAUSE,        /* a: replica, b: pause */
    SIM_STREAM_NETWORK,      /* a: number of the message */
    SIM_STREAM_LOSS,         /* a: number of the message */
    SIM_STREAM_BREAK,        /* a: connection, b: number of the break */
    SIM_STREAM_THINK,        /* a: user, b: round */
    SIM_STREAM_CHOICE,       /* seeds a generator of choices. a: client, of references one more for
                                all of them, b: 0; or a: UINT64_MAX, b: replica. Also a: client,
                                b: 1 + replica: when their link comes up */
    SIM_STREAM_SHUFFLE,      /* a: number of the event */
    SIM_STREAM_KEY,          /* a: call */
    SIM_STREAM_CRASH         /* a: replica, b: number of its life */
};

#define SIM_STREAM_SHARED UINT64_MAX

/* 64 random bits; the same for the same arguments on every machine. */
static inline uint64_t sim_draw (uint64_t seed, enum sim_stream stream, uint64_t a, uint64_t b)
{
    uint64_t x = ti_mix (seed + (uint64_t)stream * UINT64_C (0x9e3779b97f4a7c15));
    x = ti_mix (x ^ (a * UINT64_C (0xd1342543de82ef95) + 1));
    return ti_mix (x ^ (b * UINT64_C (0xaf251af3b0f025b5) + 1));
}

/* True for this share of the draws. */
static inline bool sim_is_below (uint64_t random, double share)
{
    return (double)(random >> 11) * 0x1p-53 < share;
}

#endif
