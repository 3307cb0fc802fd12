/* SPDX-License-Identifier: MIT */
#include "zmq/clock.h"

#include <errno.h>
#include <sys/random.h>
#include <time.h>

#include "base/util.h"

tied_time_t ti_clock_now (void)
{
    struct timespec ts;

    /* Cannot fail for this clock; zeros would only mean "long ago". */
    if (clock_gettime (CLOCK_MONOTONIC, &ts) != 0)
        return 0;
    return (tied_time_t)ts.tv_sec * UINT64_C (1000000000) + (tied_time_t)ts.tv_nsec;
}

uint64_t ti_random_u64 (void)
{
    uint64_t value = 0;

    for (int attempt = 0; attempt < 64; attempt++) {
        if (getrandom (&value, sizeof value, 0) == (ssize_t)sizeof value && value != 0)
            return value;
    }
    /* Only a system without getrandom () comes here: unique is enough, secret is not needed. */
    value = ti_mix (ti_clock_now () ^ (uint64_t)(uintptr_t)&value);
    return value ? value : 1;
}
