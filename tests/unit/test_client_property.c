/* SPDX-License-Identifier: MIT */
/*
 * Random events, sensible and hostile, in long runs. The rig holds every step against its oracle
 * and calls the core's own check; here are only the events and what must hold at the end.
 */
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "check.h"
#include "client_rig.h"

#define IDS 256

struct play {
    struct rig rig;
    struct ti_prng prng;
    struct tied_client_action sent[IDS]; /* requests of the past, to be answered in any order */
    uint32_t sent_next;
    uint32_t fresh_instance;
};

static uint64_t below (struct play *play, uint64_t bound)
{
    return ti_prng_below (&play->prng, bound);
}

static void choose_options (struct play *play)
{
    struct tied_client_core_options *o = &play->rig.options;
    o->calls_max = 1 + (uint32_t)below (play, 24);
    o->copies_max = 1 + (uint32_t)below (play, TIED_COPIES_MAX);
    o->pick = (uint32_t)below (play, 3);
    o->pick_samples = 2 + (uint32_t)below (play, 4);
    o->seed = below (play, UINT64_MAX);
    o->first_sequence = below (play, 2) ? UINT64_MAX - below (play, 200) : below (play, 200);
    o->heartbeat_ns = MS (1) + below (play, MS (20));
    o->heartbeat_misses = 1 + (uint32_t)below (play, 4);
    o->min_remaining_ns = below (play, 3) ? 0 : below (play, MS (3));
}

static struct tied_load random_load (struct play *play)
{
    return (struct tied_load){(uint32_t)below (play, 50), (uint32_t)below (play, 5), 0};
}

static void submit (struct play *play)
{
    const uint64_t kind = below (play, 12);
    const struct tied_client_submit submit = {
        .token = (uint32_t)below (play, play->rig.options.calls_max + 1),
        .mode = (uint32_t)below (play, 20) ? (uint32_t)below (play, 2) : 7,
        .is_idempotent = below (play, 4) != 0,
        .deadline = kind == 0   ? TIED_NEVER
                    : kind == 1 ? below (play, play->rig.now + 1)
                                : play->rig.now + 1 + below (play, MS (30)),
        .stagger_ns = below (play, 3) ? TIED_STAGGER_AUTO : below (play, 2) * below (play, MS (5)),
        .hedge_ns = below (play, 2)   ? TIED_HEDGE_NONE
                    : below (play, 8) ? below (play, 2) + below (play, MS (8))
                                      : TIED_NEVER - below (play, 2)};
    (void)rig_submit (&play->rig, &submit);
}

static void answer (struct play *play)
{
    const struct tied_client_action *a = &play->sent[below (play, IDS)];
    if (a->type != TIED_CLIENT_ACT_SEND_REQUEST)
        return;
    const bool is_odd = below (play, 40) == 0;
    struct tied_client_event ev = {.type = TIED_CLIENT_EV_REPLY, .replica = a->replica};
    struct tied_call_id id = a->call;
    uint8_t copy = a->u.request.copy;
    if (is_odd) {
        ev.replica = (uint32_t)below (play, 6);
        id.epoch += below (play, 2);
        id.sequence += below (play, 3) - 1;
        copy = (uint8_t)below (play, 256);
    }
    switch (below (play, 8)) {
    case 0:
    case 1:
        ev.type = TIED_CLIENT_EV_REJECT;
        ev.u.reject.call = id;
        ev.u.reject.copy = copy;
        ev.u.reject.reason = (uint8_t)(below (play, 20) ? 1 + below (play, 10) : 200);
        ev.u.reject.load = random_load (play);
        break;
    case 2:
        ev.type = TIED_CLIENT_EV_SEND_FAILED;
        ev.u.send_failed.call = id;
        ev.u.send_failed.copy = copy;
        break;
    case 3:
        ev.type = TIED_CLIENT_EV_CANCEL;
        ev.u.cancel.call = id;
        break;
    default:
        ev.u.reply.call = id;
        ev.u.reply.copy = copy;
        ev.u.reply.status = below (play, 5) == 0 ? 42 : 0;
        ev.u.reply.flags = (uint32_t)below (play, 4);
        ev.u.reply.load = random_load (play);
    }
    (void)rig_step (&play->rig, &ev);
}

static void disturb (struct play *play)
{
    const uint32_t replica = (uint32_t)below (play, 6);
    struct tied_client_event ev = {.replica = replica};
    switch (below (play, 8)) {
    case 0:
        ev.type = TIED_CLIENT_EV_LINK_DOWN;
        break;
    case 1:
    case 2:
        ev.type = TIED_CLIENT_EV_LINK_UP;
        break;
    case 3:
    case 4:
    case 5:
        ev.type = TIED_CLIENT_EV_WELCOME;
        ev.u.welcome.id_matches = below (play, 30) != 0;
        ev.u.welcome.echo = below (play, 2) ? play->rig.now : below (play, UINT64_MAX);
        ev.u.welcome.load = random_load (play);
        ev.u.welcome.incarnation = 100 + replica;
        if (below (play, 8) == 0)
            ev.u.welcome.incarnation = below (play, 3) ? 1000 + play->fresh_instance++ : 100;
        break;
    default:
        ev.type = TIED_CLIENT_EV_PONG;
        ev.u.pong.echo = below (play, 2) ? play->rig.now : below (play, UINT64_MAX);
        ev.u.pong.load = random_load (play);
    }
    (void)rig_step (&play->rig, &ev);
}

static void remember (struct play *play)
{
    for (uint32_t i = 0; i < play->rig.log_count; i++)
        if (play->rig.log[i].type == TIED_CLIENT_ACT_SEND_REQUEST)
            play->sent[play->sent_next++ % IDS] = play->rig.log[i];
    rig_forget (&play->rig);
}

static void play_one (struct play *play)
{
    const uint64_t what = below (play, 20);
    if (what < 5)
        submit (play);
    else if (what < 12)
        answer (play);
    else if (what < 15)
        disturb (play);
    else if (what == 15)
        play->rig.now += below (play, MS (8)); /* a late driver: events before due timers */
    else
        rig_advance (&play->rig, play->rig.now + below (play, MS (2)));
    remember (play);
}

static void run (uint64_t seed, uint32_t steps)
{
    struct play *play = calloc (1, sizeof *play);
    CHECK_TRUE (play != NULL);
    ti_prng_seed (&play->prng, seed);
    rig_init (&play->rig);
    choose_options (play);
    rig_start (&play->rig);
    for (int i = 0; i < 6; i++)
        CHECK_I64 (tied_client_core_add_replica (play->rig.core), ==, i);
    for (uint32_t i = 0; i < steps; i++)
        play_one (play);
    const struct tied_client_event stop = {.type = TIED_CLIENT_EV_STOP};
    CHECK_I64 (rig_step (&play->rig, &stop), ==, 0);
    rig_forget (&play->rig);
    for (int i = 0; i < 100 && tied_client_core_live_calls (play->rig.core); i++) {
        answer (play);
        CHECK_U64 (rig_count (&play->rig, TIED_CLIENT_ACT_SEND_REQUEST), ==, 0);
        rig_forget (&play->rig);
    }
    CHECK_U64 (tied_client_core_live_calls (play->rig.core), ==, 0);
    CHECK_U64 (tied_client_core_copies_in_flight (play->rig.core), ==, 0);
    CHECK_U64 (play->rig.completions, ==, play->rig.accepted);
    rig_stop (&play->rig);
    free (play);
}

static void BE_10_CL_18_CL_26_random_events_keep_every_promise (void **state)
{
    (void)state;
    const uint64_t runs = check_scale (200);
    for (uint64_t seed = 0; seed < runs; seed++)
        run (seed, 1500);
}

/* The same seed gives the same hash after every event, and a copied block goes on like its
 * original. */
static void a_copy_of_the_block_behaves_like_the_original (void **state)
{
    (void)state;
    struct play *a = calloc (1, sizeof *a);
    struct play *b = malloc (sizeof *b);
    CHECK_TRUE (a && b);
    ti_prng_seed (&a->prng, 77);
    rig_init (&a->rig);
    a->rig.options.copies_max = 3;
    a->rig.options.calls_max = 24;
    rig_start (&a->rig);
    for (int i = 0; i < 6; i++)
        CHECK_I64 (tied_client_core_add_replica (a->rig.core), ==, i);
    for (int round = 0; round < 200; round++) {
        void *memory = malloc (a->rig.size);
        CHECK_TRUE (memory != NULL);
        memcpy (memory, a->rig.core, a->rig.size);
        memcpy (b, a, sizeof *b);
        b->rig.core = memory;
        for (int i = 0; i < 30; i++) {
            play_one (a);
            play_one (b);
            CHECK_U64 (tied_client_core_hash (a->rig.core), ==,
                       tied_client_core_hash (b->rig.core));
        }
        CHECK_MEM (rig_counters (&a->rig), rig_counters (&b->rig),
                   sizeof (struct tied_client_counters));
        free (memory);
    }
    rig_stop (&a->rig);
    free (a);
    free (b);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (BE_10_CL_18_CL_26_random_events_keep_every_promise),
        cmocka_unit_test (a_copy_of_the_block_behaves_like_the_original),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
