/* SPDX-License-Identifier: MIT */
/*
 * A world of one client and two or three replicas whose schedule the input chooses: the first bytes
 * are the setting, each further pair is a deed and its argument. Every step is checked by the
 * ledger and the cores; at the end the world is healed, and every call has to end.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/assert.h"
#include "world.h"

enum {
    CALLS_MAX = 24,
    DEEDS_MAX = 200
};

struct script {
    const uint8_t *data;
    size_t size;
};

static uint8_t take (struct script *self)
{
    if (self->size == 0)
        return 0;
    self->size--;
    return *self->data++;
}

/* Steps of all sizes: 1 us to some 100 ms. */
static tied_duration_t length_of (uint8_t byte)
{
    return TIED_US (1 + (uint64_t)(byte & 15)) << (byte >> 4);
}

static void set_options (struct world_options *options, struct script *script)
{
    const uint8_t flags = take (script);

    world_options_init (options);
    options->replicas = 2 + (flags & 1);
    options->calls_per_client = CALLS_MAX;
    options->client.calls_max = CALLS_MAX;
    options->client.heartbeat_ns = TIED_MS (20);
    options->client.copies_max = 3 + (flags >> 1 & 3);
    options->client.pick = flags >> 3 & 1;
    options->replica.workers = 1 + (flags >> 4 & 1);
    options->replica.queue_depth = 1 + (flags >> 5 & 3);
    options->replica.hedge_depth = 1;
    options->replica.recent_max = 16;
    options->replica.client_silence_ns = TIED_MS (500);
    options->has_clock_offsets = (flags & 128) != 0;
    options->delay_high_ns += length_of (take (script)) % TIED_MS (2);
    options->peer_delay_high_ns += length_of (take (script)) % TIED_MS (2);
    options->service.a_ns = length_of (take (script));
    options->seed = take (script);
}

static void deed (struct world *world, struct script *script, uint32_t *calls, uint32_t replicas)
{
    const uint8_t code = take (script);
    const uint8_t argument = take (script);
    const int replica = (int)(argument % replicas);
    const int peer = (int)((argument / replicas) % replicas);
    const int client = NODE_CLIENT (0);
    const uint8_t type = (uint8_t)(TIED_WIRE_REQUEST + argument / 16 % 6);

    switch (code % 16) {
    case 0:
    case 1:
    case 2:
        world_run_until (world, world_now (world) + length_of (argument));
        break;
    case 3:
    case 4:
    case 5:
        if (*calls < CALLS_MAX) {
            (void)world_submit_hedged (
                world, 0, argument & 1 ? TIED_MODE_TIED : TIED_MODE_SINGLE, (argument & 6) != 0,
                TIED_MS (1) + length_of ((uint8_t)(argument | 128)),
                argument & 8 ? 0 : TIED_STAGGER_AUTO,
                code & 16 ? length_of ((uint8_t)(argument | 64)) : TIED_HEDGE_NONE);
            (*calls)++;
        }
        break;
    case 6:
        if (world_is_alive (world, replica))
            world_crash (world, replica, (argument & 128) != 0);
        else
            world_restart (world, replica);
        break;
    case 7:
        world_restart_hidden (world, replica);
        break;
    case 8:
        if (world_is_alive (world, replica))
            world_pause (world, replica, world_now (world) + length_of (argument));
        break;
    case 9:
        world_lose_next (world, client, NODE_REPLICA (replica), type);
        break;
    case 10:
        world_lose_next (world, NODE_REPLICA (replica), client, type);
        break;
    case 11:
        if (replica != peer)
            world_lose_next (world, NODE_REPLICA (replica), NODE_REPLICA (peer), type);
        break;
    case 12:
        if (replica != peer)
            world_delay_next (world, NODE_REPLICA (replica), NODE_REPLICA (peer), type,
                              length_of (argument));
        break;
    case 13:
        world_break (world, client, NODE_REPLICA (replica), length_of (argument));
        break;
    case 14:
        if (*calls > 0)
            world_give_up (world, 0, argument % *calls);
        break;
    default:
        world_service_next (world, replica, length_of (argument));
        break;
    }
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    struct script script = {data, size};
    struct world_options options;
    struct world *world;
    uint32_t calls = 0;

    if (size < 5)
        return 0;
    set_options (&options, &script);
    world = world_new (&options);
    world_run_until (world, WORLD_START + TIED_MS (5));
    for (int i = 0; i < DEEDS_MAX && script.size > 0; i++)
        deed (world, &script, &calls, options.replicas);
    world_settle (world);
    TI_ASSERT (world_run_idle (world, world_now (world) + TIED_S (60)));
    ledger_end (world_ledger (world), false);
    world_check_empty (world);
    if (world_ledger (world)->violation[0] != '\0')
        (void)fprintf (stderr, "%s\n", world_ledger (world)->violation);
    TI_ASSERT (world_ledger (world)->violation[0] == '\0');
    world_free (world);
    return 0;
}
