/* SPDX-License-Identifier: MIT */
#include "zmq/panic.h"

#include <stddef.h>
#include <stdio.h>

#include "base/assert.h"

static void print_failure (const char *expression, const char *file, int line)
{
    (void)fprintf (stderr, "tied: assertion failed: %s (%s:%d)\n", expression, file, line);
}

void ti_panic_install (void)
{
    ti_assert_fn *none = NULL;

    /* Two threads may create their first replica or client at the same time. */
    (void)__atomic_compare_exchange_n (&ti_assert_handler, &none, print_failure, 0,
                                       __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}
