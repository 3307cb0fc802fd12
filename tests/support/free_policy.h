/* SPDX-License-Identifier: MIT */
/* Settings under which nothing but the protocol forbids an extra copy: no budget, no governor. */
#ifndef TEST_FREE_POLICY_H
#define TEST_FREE_POLICY_H

#include <tied/client_core.h>

#include "base/assert.h"

static inline void set_free_policy (tied_client_core_t *core)
{
    struct tied_policy policy;

    tied_policy_init (&policy);
    policy.extra_load_ppm = TIED_PPM;
    policy.is_governed = false;
    TI_ASSERT (tied_client_core_set_policy (core, 0, &policy) == 0);
}

#endif
