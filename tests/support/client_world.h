/* SPDX-License-Identifier: MIT */
/*
 * One client and up to four fake replicas in one thread: the CALLER drive and the fakes take turns
 * until what the test waits for has happened.
 */
#ifndef TIED_TEST_CLIENT_WORLD_H
#define TIED_TEST_CLIENT_WORLD_H

#include "check.h"
#include "fake_replica.h"
#include "zmq/clock.h"

#define WORLD_REPLICAS_MAX 4
#define WORLD_PATIENCE     CHECK_PATIENCE

struct world {
    tied_client_t *client;
    struct fake_replica *replicas[WORLD_REPLICAS_MAX];
    uint32_t count;
};

/* Evaluate expression between rounds until it is true; fail after a generous bound. */
#define WORLD_UNTIL(world, expression)                                                             \
    do {                                                                                           \
        tied_time_t give_up_ = ti_clock_now () + WORLD_PATIENCE;                                   \
        while (!(expression)) {                                                                    \
            if (ti_clock_now () > give_up_) {                                                      \
                print_error ("%s:%d: never: %s\n", __FILE__, __LINE__, #expression);               \
                _fail (__FILE__, __LINE__);                                                        \
            }                                                                                      \
            world_round (world);                                                                   \
        }                                                                                          \
    } while (0)

static inline void world_round (struct world *world)
{
    for (uint32_t i = 0; i < world->count; i++)
        fake_replica_serve (world->replicas[i]);
    CHECK_I64 (tied_client_poll (world->client, US (200)), >=, 0);
}

/* options NULL: defaults. The drive becomes CALLER; all replicas are ready on return. */
static inline void
world_open (struct world *world, uint32_t count, const struct tied_client_options *options)
{
    static const char *const names[WORLD_REPLICAS_MAX] = {"a", "b", "c", "d"};
    struct tied_client_options own;

    memset (world, 0, sizeof *world);
    if (options)
        own = *options;
    else
        tied_client_options_init (&own);
    own.drive = TIED_DRIVE_CALLER;
    world->client = tied_client_new (&own);
    CHECK_PTR (world->client, !=, NULL);
    world->count = count;
    for (uint32_t i = 0; i < count; i++) {
        world->replicas[i] = fake_replica_new (names[i], NULL, NULL);
        CHECK_I64 (tied_client_add_replica (world->client, names[i], world->replicas[i]->endpoint),
                   ==, 0);
    }
    CHECK_I64 (tied_client_start (world->client), ==, 0);
    WORLD_UNTIL (world, tied_client_wait_ready (world->client, count, 0) == 0);
}

static inline void world_close (struct world *world)
{
    tied_client_destroy (&world->client);
    for (uint32_t i = 0; i < world->count; i++)
        fake_replica_destroy (&world->replicas[i]);
}

static inline struct tied_client_stats world_stats (const struct world *world)
{
    struct tied_client_stats stats = {.struct_size = sizeof stats};

    CHECK_I64 (tied_client_stats (world->client, &stats), ==, 0);
    return stats;
}

static inline struct tied_call world_call (uint32_t mode, bool is_idempotent)
{
    struct tied_call call;

    tied_call_init (&call, "work", "hello", 5);
    call.mode = mode;
    call.is_idempotent = is_idempotent;
    call.timeout_ns = CHECK_PATIENCE;
    return call;
}

/* Give the wire time to deliver what must not be there: a PING and its PONG pass everything that
   was sent before. */
static inline void world_flush (struct world *world)
{
    for (uint32_t i = 0; i < world->count; i++) {
        uint32_t pings = world->replicas[i]->pings;
        WORLD_UNTIL (world, world->replicas[i]->pings > pings + 1);
    }
}

#endif
