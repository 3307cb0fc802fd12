/* SPDX-License-Identifier: MIT */
/*
 * Client core: the bytes are options and a script of events and of settings, with ids chosen to
 * meet those that exist. Each call ends once, by its deadline; the core checks itself now and then,
 * since that takes longer than all else.
 */
#include <stdlib.h>
#include <string.h>

#include <tied/client_core.h>
#include <tied/wire.h>

#include "base/assert.h"
#include "base/util.h"
#include "free_policy.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

#define CALLS    8
#define REPLICAS 4
#define PAST     32
#define METHODS  2
/* Steps between two checks. */
#define CHECK_EVERY 16

struct script {
    const uint8_t *data;
    size_t left;
};

struct world {
    tied_client_core_t *core;
    tied_time_t now;
    bool is_live[CALLS];
    struct tied_call_id id[CALLS];
    tied_time_t deadline[CALLS];
    struct tied_client_action sent[PAST];
    uint32_t sent_next;
    uint32_t steps;
};

static uint8_t byte (struct script *script)
{
    if (script->left == 0)
        return 0;
    script->left--;
    return *script->data++;
}

/* Small values often, all of 64 bits sometimes. */
static uint64_t number (struct script *script)
{
    const uint8_t kind = byte (script);
    uint64_t value = byte (script);
    if (kind < 0x80)
        return value << (kind % 28);
    for (int i = 0; i < 7; i++)
        value = value << 8 | byte (script);
    return value;
}

static struct tied_load load (struct script *script)
{
    return (struct tied_load){byte (script), byte (script), (uint32_t)number (script)};
}

static void take (struct world *world, const struct tied_client_event *ev)
{
    const struct tied_client_action *a;
    while ((a = tied_client_core_next (world->core)) != NULL) {
        switch (a->type) {
        case TIED_CLIENT_ACT_ACCEPTED:
            TI_ASSERT (!world->is_live[a->token]);
            world->is_live[a->token] = true;
            world->id[a->token] = a->call;
            world->deadline[a->token] = ev->u.submit.deadline;
            break;
        case TIED_CLIENT_ACT_KEEP_REPLY:
            TI_ASSERT (world->is_live[a->token] && ev->type == TIED_CLIENT_EV_REPLY);
            break;
        case TIED_CLIENT_ACT_COMPLETE:
            TI_ASSERT (world->is_live[a->token]);
            TI_ASSERT (ti_call_id_equal (world->id[a->token], a->call));
            world->is_live[a->token] = false;
            break;
        case TIED_CLIENT_ACT_SEND_REQUEST:
            TI_ASSERT (world->is_live[a->token]);
            TI_ASSERT (ti_call_id_equal (world->id[a->token], a->call));
            TI_ASSERT (a->replica < REPLICAS);
            world->sent[world->sent_next++ % PAST] = *a;
            break;
        case TIED_CLIENT_ACT_SEND_CANCEL:
        case TIED_CLIENT_ACT_SEND_HELLO:
        case TIED_CLIENT_ACT_SEND_PING:
            TI_ASSERT (a->replica < REPLICAS);
            break;
        }
    }
    if (++world->steps % CHECK_EVERY == 0)
        tied_client_core_check (world->core);
    for (uint32_t token = 0; token < CALLS; token++)
        if (world->is_live[token] && world->deadline[token] != TIED_NEVER)
            TI_ASSERT (tied_client_core_deadline (world->core) <=
                       ti_max (world->deadline[token], world->now));
}

static void step (struct world *world, const struct tied_client_event *ev)
{
    /* A refused event leaves no action. */
    if (tied_client_core_step (world->core, ev, world->now))
        TI_ASSERT (tied_client_core_next (world->core) == NULL);
    else
        take (world, ev);
}

static struct tied_hedge_term read_term (struct script *script)
{
    const uint8_t value = byte (script);

    if (value >= 0x80)
        return (struct tied_hedge_term){true, 999999 - 7000u * (value - 0x80u)};
    return (struct tied_hedge_term){false, (uint64_t)value << 18};
}

/* Good settings, and now and then bad ones. */
static void change_settings (struct world *world, struct script *script)
{
    const uint8_t bits = byte (script);
    struct tied_policy policy;

    tied_policy_init (&policy);
    policy.mode = byte (script) % 5;
    policy.is_idempotent = (bits & 1) != 0;
    policy.is_off = (bits & 0x0e) == 0x0e;
    policy.is_shadow = (bits & 0x30) == 0x30;
    policy.is_governed = (bits & 0x40) != 0;
    policy.canary_ppm = TIED_PPM - 4000u * byte (script) % TIED_PPM;
    policy.extra_load_ppm = 4000u * byte (script) % (TIED_PPM + 1);
    policy.burst_milli = 1000u * (1u + byte (script));
    policy.debt_milli = 1000u * byte (script);
    policy.min_samples = 1u + byte (script) % 8;
    policy.hedge.kind = byte (script) % 5;
    policy.hedge.count = byte (script) % 4;
    for (uint32_t i = 0; i < policy.hedge.count; i++)
        policy.hedge.terms[i] = read_term (script);
    policy.governor.min_events = 1u + byte (script) % 4;
    policy.governor.hold_ns = TIED_MS (byte (script));
    policy.governor.depth_milli = byte (script) * 100u;
    policy.waits_count = byte (script) % 2;
    policy.waits[0] = (struct tied_status_range){2, 3};
    if (tied_policy_check (&policy, NULL) !=
        tied_client_core_set_policy (world->core, bits >> 7, &policy))
        TI_UNREACHABLE ();
}

static struct tied_client_event read_event (struct world *world, struct script *script)
{
    struct tied_client_event ev;
    memset (&ev, 0, sizeof ev);
    const uint8_t kind = byte (script);
    const struct tied_client_action *of = &world->sent[byte (script) % PAST];
    struct tied_call_id id = of->call;
    uint8_t copy = of->u.request.copy;
    uint8_t flags;
    ev.type = (enum tied_client_event_type) (kind % 12);
    ev.replica = of->replica;
    if (kind >= 0xe0) {
        id.epoch += byte (script) % 2;
        id.sequence += number (script);
        copy = byte (script);
    }
    if (kind >= 0xc0 || ev.type == TIED_CLIENT_EV_LINK_UP || ev.type == TIED_CLIENT_EV_LINK_DOWN ||
        ev.type == TIED_CLIENT_EV_WELCOME || ev.type == TIED_CLIENT_EV_PONG)
        ev.replica = byte (script) % (REPLICAS + 1);
    switch (ev.type) {
    case TIED_CLIENT_EV_SUBMIT:
        ev.u.submit.token = byte (script) % (CALLS + 1);
        flags = byte (script);
        ev.u.submit.mode = flags % 5 == 4 ? TIED_MODE_POLICY : flags % 5;
        ev.u.submit.method = flags >> 6 & 1;
        ev.u.submit.is_inner = (flags & 0x20) != 0;
        ev.u.submit.affinity = flags >> 4 & 1;
        ev.u.submit.hedge_ns = TIED_HEDGE_POLICY;
        ev.u.submit.is_idempotent = byte (script) % 4 != 0;
        ev.u.submit.deadline = ti_time_add (world->now, number (script));
        ev.u.submit.stagger_ns = number (script);
        if (flags >= 128)
            ev.u.submit.hedge_ns = number (script);
        break;
    case TIED_CLIENT_EV_CANCEL:
        ev.u.cancel.call = id;
        break;
    case TIED_CLIENT_EV_REPLY:
        ev.u.reply.call = id;
        ev.u.reply.copy = copy;
        ev.u.reply.status = byte (script) % 4;
        ev.u.reply.flags = byte (script);
        ev.u.reply.queue_ns = number (script);
        ev.u.reply.load = load (script);
        break;
    case TIED_CLIENT_EV_REJECT:
        ev.u.reject.call = id;
        ev.u.reject.copy = copy;
        ev.u.reject.reason = byte (script) % 12;
        ev.u.reject.load = load (script);
        break;
    case TIED_CLIENT_EV_WELCOME:
        flags = byte (script);
        ev.u.welcome.incarnation = flags % 8;
        ev.u.welcome.modes = flags >= 0x80 ? flags >> 3 : TIED_WIRE_MODES;
        ev.u.welcome.id_matches = byte (script) % 16 != 0;
        ev.u.welcome.echo = ti_time_sub (world->now, number (script));
        ev.u.welcome.load = load (script);
        break;
    case TIED_CLIENT_EV_PONG:
        ev.u.pong.echo = ti_time_sub (world->now, number (script));
        ev.u.pong.load = load (script);
        break;
    case TIED_CLIENT_EV_SEND_FAILED:
        ev.u.send_failed.call = id;
        ev.u.send_failed.copy = copy;
        break;
    case TIED_CLIENT_EV_STOP:
        /* Rarely, or little else is ever seen. */
        if (byte (script) != 0xff)
            ev.type = TIED_CLIENT_EV_TIMEOUT;
        break;
    case TIED_CLIENT_EV_LINK_UP:
    case TIED_CLIENT_EV_LINK_DOWN:
    case TIED_CLIENT_EV_TIMEOUT:
        break;
    }
    return ev;
}

static void read_options (struct script *script, struct tied_client_core_options *options)
{
    tied_client_core_options_init (options);
    options->epoch = 1;
    options->first_sequence = (uint64_t)0 - byte (script);
    options->seed = byte (script);
    options->calls_max = 1 + byte (script) % CALLS;
    options->replicas_max = REPLICAS;
    options->copies_max = 1 + byte (script) % TIED_COPIES_MAX;
    options->methods_max = METHODS;
    options->pick = byte (script) % 4;
    options->pick_samples = 2 + byte (script) % 3;
    options->min_remaining_ns = byte (script) % 2 ? TIED_MS (1) : 0;
    options->heartbeat_ns = TIED_MS (1 + byte (script));
    options->heartbeat_misses = 1 + byte (script) % 3;
    options->probation_milli = options->heartbeat_misses == 1 ? 2000 : 0;
}

static void end (struct world *world)
{
    struct tied_client_event ev;
    memset (&ev, 0, sizeof ev);
    ev.type = TIED_CLIENT_EV_STOP;
    step (world, &ev);
    ev.type = TIED_CLIENT_EV_TIMEOUT;
    while (tied_client_core_live_calls (world->core) > 0)
        step (world, &ev);
    tied_client_core_check (world->core);
    TI_ASSERT (tied_client_core_copies_in_flight (world->core) == 0);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    struct script script = {data, size};
    struct tied_client_core_options options;
    struct world *world = calloc (1, sizeof *world);
    read_options (&script, &options);
    const size_t bytes = tied_client_core_size (&options);
    void *memory = malloc (bytes);
    if (!world || !memory) {
        free (world);
        free (memory);
        return 0;
    }
    world->core = tied_client_core_init (memory, bytes, &options);
    TI_ASSERT (world->core != NULL);
    if (options.seed % 2 == 0)
        set_free_policy (world->core);
    world->now = number (&script);
    for (uint32_t i = 0; i < REPLICAS; i++)
        TI_ASSERT (tied_client_core_add_replica (world->core) == (int)i);
    while (script.left > 0) {
        if (*script.data % 12 == 0) {
            (void)byte (&script);
            change_settings (world, &script);
            continue;
        }
        const struct tied_client_event ev = read_event (world, &script);
        if (byte (&script) % 4 == 0)
            world->now = ti_time_add (world->now, number (&script));
        step (world, &ev);
    }
    end (world);
    free (memory);
    free (world);
    return 0;
}
