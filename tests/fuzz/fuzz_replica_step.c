/* SPDX-License-Identifier: MIT */
/*
 * The bytes are a script for one replica core: option values, time jumps, events, ids that collide.
 * Checked after every step: all invariants, bounded actions, a deadline that is not in the past.
 * At the end the replica drains, and every table must come to rest.
 */
#include <stdlib.h>

#include "base/assert.h"
#include "replica_script.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

struct input {
    const uint8_t *data;
    size_t size;
};

static uint32_t read_choice (void *context, uint32_t n)
{
    struct input *input = context;
    uint32_t value = 0;
    uint32_t bytes = n > 256 ? 4 : 1;

    while (bytes-- > 0 && input->size > 0) {
        value = value << 8 | *input->data++;
        input->size--;
    }
    return value % n;
}

static void feed (struct script *script,
                  tied_replica_core_t *core,
                  const struct tied_replica_event *event,
                  tied_time_t now)
{
    const struct tied_replica_action *action;
    uint64_t before = tied_replica_core_hash (core);

    if (tied_replica_core_step (core, event, now) != 0) {
        TI_ASSERT (tied_replica_core_hash (core) == before);
        TI_ASSERT (!tied_replica_core_next (core));
        return;
    }
    while ((action = tied_replica_core_next (core)))
        script_see (script, action);
    tied_replica_core_check (core);
    TI_ASSERT (tied_replica_core_deadline (core) >= now);
}

/* Let time and the workers do their part until nothing is left. */
static void come_to_rest (struct script *script, tied_replica_core_t *core, tied_time_t now)
{
    struct tied_replica_event event = {.type = TIED_REPLICA_EV_DRAIN};
    int turns = 0;
    uint32_t i;

    feed (script, core, &event, now);
    while (!tied_replica_core_is_drained (core)) {
        TI_ASSERT (turns++ < 1000);
        event.type = TIED_REPLICA_EV_TAKE;
        feed (script, core, &event, now);
        for (i = 0; i < SCRIPT_SLOTS_MAX; i++) {
            if (!script->running[i])
                continue;
            event.type = TIED_REPLICA_EV_FINISH;
            event.u.finish.slot = i;
            feed (script, core, &event, now);
        }
        /* Copies that are aside leave by time alone. */
        event.type = TIED_REPLICA_EV_TIMEOUT;
        if (tied_replica_core_deadline (core) != TIED_NEVER)
            now = tied_replica_core_deadline (core);
        feed (script, core, &event, now);
    }
    event.type = TIED_REPLICA_EV_TIMEOUT;
    while (tied_replica_core_deadline (core) != TIED_NEVER) {
        TI_ASSERT (turns++ < 2000);
        now = tied_replica_core_deadline (core);
        feed (script, core, &event, now);
    }
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    struct script script = {.choose = read_choice, .context = &input};
    struct tied_replica_core_options options;
    tied_replica_core_t *core;
    tied_time_t now;
    size_t bytes;

    script_options (&script, &options);
    now = script_choose (&script, 2) == 0 ? 0 : TIED_S (1000);
    bytes = tied_replica_core_size (&options);
    TI_ASSERT (bytes > 0);
    core = tied_replica_core_init (malloc (bytes), bytes, &options);
    if (!core)
        return 0;
    while (input.size > 0) {
        struct tied_replica_event event;

        now += script_pause (&script);
        event = script_event (&script, now);
        feed (&script, core, &event, now);
    }
    come_to_rest (&script, core, now);
    free (core);
    return 0;
}
