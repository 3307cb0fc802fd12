/* SPDX-License-Identifier: MIT */
/* Settings under which nothing but the protocol forbids an extra copy: no budget, no governor. */
#ifndef TEST_FREE_POLICY_H
#define TEST_FREE_POLICY_H

#include <tied/client.h>
#include <tied/client_core.h>

#include "base/assert.h"

static inline struct tied_policy free_policy (void)
{
    struct tied_policy policy;

    tied_policy_init (&policy);
    policy.extra_load_ppm = TIED_PPM;
    policy.is_governed = false;
    return policy;
}

static inline void set_free_policy (tied_client_core_t *core)
{
    const struct tied_policy policy = free_policy ();

    TI_ASSERT (tied_client_core_set_policy (core, 0, &policy) == 0);
}

/* Two echo servers that are idle run nearly every tied call twice, which a budget would stop. */
static inline void set_free_client_policy (tied_client_t *client)
{
    const struct tied_policy policy = free_policy ();

    TI_ASSERT (tied_client_set_policy (client, "*", &policy) == 0);
}

#endif
