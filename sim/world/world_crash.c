/* SPDX-License-Identifier: MIT */
/*
 * How a replica dies and comes back: all that it holds is gone, and when it begins anew it is
 * another instance. Its connections break at once, or, where it dies in silence, when it is back.
 * What it had sent still arrives at its peers; what was on the way to it does not.
 */
#include "world_internal.h"

#include "base/assert.h"
#include "tools/dist.h"

/* Until a client is connected again. */
#define RECONNECT_MIN TIED_MS (1)
#define RECONNECT_MAX TIED_MS (20)

static void put (struct world *self, enum world_event kind, uint32_t replica, tied_duration_t delay)
{
    const struct sim_event event = {
        .at = ti_time_add (self->now, delay), .kind = kind, .b = replica};

    sim_events_put (self->events, -1, &event);
}

void world_crash_later (struct world *self, uint32_t number)
{
    const struct ti_dist gap = {.kind = TI_DIST_EXP, .a_ns = self->scenario->replicas.crash_gap_ns};
    const uint64_t random =
        sim_draw (self->seed, SIM_STREAM_CRASH, number, self->replicas[number].life);

    put (self, WORLD_CRASH, number, ti_dist_draw (&gap, random));
}

/* A copy that waits, is aside or runs: nothing of it is left. */
static void lose (struct world *self, uint32_t number, uint32_t at)
{
    struct world_replica *r = &self->replicas[number];
    struct world_slot *slot = &r->slots[at];
    struct world_call *call = world_call_at (self, r->held[at]);

    world_note (self, r->held[at], world_actor_replica (number), world_actor_replica (number),
                "dies", slot->copy);
    if (slot->is_running) {
        call->spent_ns[slot->copy] += self->now - slot->since;
        world_replica_stop_worker (self, number, at);
    }
    r->held[at].epoch = 0;
    world_call_release_copy (self, call);
}

static void tell_peers (struct world *self, uint32_t number, bool is_up)
{
    const struct world_replica *r = &self->replicas[number];

    for (uint32_t peer = r->first; peer < r->first + r->peers; peer++) {
        if (peer == number || self->replicas[peer].is_dead)
            continue;
        world_replica_peer (self, peer, number, is_up);
        world_replica_settle (self, peer);
    }
}

/* All connections to it, as those at the other ends see them. */
static void break_all (struct world *self, uint32_t number)
{
    for (uint32_t c = self->replicas[number].group; c < self->scenario->clients; c += self->groups)
        if (world_is_connected (self, c, number))
            world_disconnect (self, c, number);
    if (sim_policy_is_tie (self->policy->kind))
        tell_peers (self, number, false);
}

void world_crash (struct world *self, uint32_t number)
{
    const struct sim_scenario *s = self->scenario;
    struct world_replica *r = &self->replicas[number];
    const uint32_t slots = tied_replica_core_slots (r->core);

    r->is_dead = true;
    self->rejected_full_before += tied_replica_core_counters (r->core)->rejected_full;
    for (uint32_t i = 0; i < slots; i++)
        if (r->held[i].epoch != 0)
            lose (self, number, i);
    TI_ASSERT (r->running == 0);
    world_sum_areas (self);
    self->waiting -= r->depth;
    r->depth = 0;
    r->parked = 0;
    sim_events_set_timer (self->events, self->replica_timers + r->timer, TIED_NEVER);
    if (!s->replicas.crashes_silently)
        break_all (self, number);
    put (self, WORLD_RESTART, number, s->replicas.crash_down_ns);
}

void world_restart (struct world *self, uint32_t number)
{
    const struct sim_scenario *s = self->scenario;
    struct world_replica *r = &self->replicas[number];
    struct tied_replica_core_options o;
    tied_replica_core_t *core;

    r->life++;
    r->is_dead = false;
    r->steps = 0;
    o = world_replica_options (self, number);
    core = tied_replica_core_init (r->core, tied_replica_core_size (&o), &o);
    TI_ASSERT (core == r->core);
    world_free_conns (self, r);
    if (s->replicas.crashes_silently)
        break_all (self, number);
    if (sim_policy_is_tie (self->policy->kind)) {
        tell_peers (self, number, true);
        world_replica_peers_up (self, number);
    }
    for (uint32_t c = r->group; c < s->clients; c += self->groups) {
        const uint64_t random =
            sim_draw (self->seed, SIM_STREAM_CRASH, (uint64_t)c << 32 | (number + 1), r->life);
        const struct sim_event event = {.at = self->now + RECONNECT_MIN +
                                              random % (RECONNECT_MAX - RECONNECT_MIN),
                                        .kind = WORLD_LINK_UP,
                                        .a = c,
                                        .b = number};

        sim_events_put (self->events, -1, &event);
    }
    world_crash_later (self, number);
}
