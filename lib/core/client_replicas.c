/* SPDX-License-Identifier: MIT */
/*
 * What the client knows of each replica: link, greeting, heartbeats, load. Losing a replica only
 * moves its copies to the doomed list, in O(1); the calls are told one by one (client_calls.c).
 */
#include "core/client_state.h"

/* Heartbeats for which a replica that said "draining" is not chosen. It normally leaves before;
 * if it does not, it is tried again. */
#define AVOID_BEATS 5

bool ti_client_is_usable (ti_core *self, uint32_t replica)
{
    return ti_replica_at (self, replica)->is_usable;
}

static void make_usable (ti_core *self, uint32_t replica)
{
    struct ti_replica *r = ti_replica_at (self, replica);
    TI_ASSERT (r->state == TIED_REPLICA_UP);
    if (!r->is_usable) {
        r->is_usable = true;
        TI_AT (uint32_t, self, self->usable)[self->usable_count++] = replica;
        if (self->options.probation_milli)
            ti_health_join (ti_health_of (self), replica);
    }
    self->is_placing = true;
}

static void make_unusable (ti_core *self, uint32_t replica)
{
    struct ti_replica *r = ti_replica_at (self, replica);
    if (!r->is_usable)
        return;
    r->is_usable = false;
    if (self->options.probation_milli)
        ti_health_leave (ti_health_of (self), replica);
    /* Choices permute the list, so no replica knows its place in it. */
    uint32_t *usable = TI_AT (uint32_t, self, self->usable);
    for (uint32_t i = 0; i < self->usable_count; i++) {
        if (usable[i] == replica) {
            usable[i] = usable[--self->usable_count];
            return;
        }
    }
    TI_UNREACHABLE ();
}

static void probe (ti_core *self, uint32_t replica, enum tied_client_action_type type)
{
    struct tied_client_action *action = ti_emit (self, type);
    action->replica = replica;
    action->u.probe.time = self->now;
    ti_delay_probe_sent (&ti_replica_at (self, replica)->delay, self->now);
}

static void schedule (ti_core *self, uint32_t replica)
{
    ti_heap_set (&self->beats, replica, ti_time_add (self->now, self->options.heartbeat_ns));
}

static void unschedule (ti_core *self, uint32_t replica)
{
    (void)ti_heap_remove (&self->beats, replica);
}

/* Everything sent there is lost from now on. */
static void doom (ti_core *self, uint32_t replica)
{
    struct ti_replica *r = ti_replica_at (self, replica);
    if (r->state == TIED_REPLICA_UP)
        self->counters.replicas_lost++;
    if (r->in_flight) {
        ti_links_move (ti_links_of (self), ti_doomed_list (self), ti_replica_list (self, replica));
        r->in_flight = 0;
        r->generation++;
    }
    make_unusable (self, replica);
}

static void enter_up (ti_core *self, uint32_t replica)
{
    struct ti_replica *r = ti_replica_at (self, replica);
    r->state = TIED_REPLICA_UP;
    r->misses = 0;
    if (r->avoid_beats == 0)
        make_usable (self, replica);
}

void ti_client_link_up (ti_core *self, uint32_t replica)
{
    struct ti_replica *r = ti_replica_at (self, replica);
    if (r->state != TIED_REPLICA_DOWN)
        return;
    r->state = TIED_REPLICA_GREETED;
    r->avoid_beats = 0;
    ti_delay_forget_probes (&r->delay);
    probe (self, replica, TIED_CLIENT_ACT_SEND_HELLO);
    schedule (self, replica);
}

void ti_client_link_down (ti_core *self, uint32_t replica)
{
    struct ti_replica *r = ti_replica_at (self, replica);
    if (r->state == TIED_REPLICA_DOWN)
        return;
    doom (self, replica);
    unschedule (self, replica);
    r->state = TIED_REPLICA_DOWN;
    r->load_at = 0;
    r->avoid_beats = 0;
}

static void report (ti_core *self, struct ti_replica *r, const struct tied_load *load)
{
    r->load = *load;
    /* 0 means never; a report at time 0 is dated 1 ns later. */
    r->load_at = ti_max (self->now, 1);
    ti_load_mean_report (&self->mean, load);
}

void ti_client_hear (ti_core *self, uint32_t replica, const struct tied_load *load)
{
    struct ti_replica *r = ti_replica_at (self, replica);
    if (r->state != TIED_REPLICA_UP && r->state != TIED_REPLICA_SUSPECT)
        return;
    r->is_heard = true;
    report (self, r, load);
    if (r->state == TIED_REPLICA_SUSPECT)
        enter_up (self, replica);
    else if (r->is_usable)
        self->is_placing = true;
}

void ti_client_welcome (ti_core *self, const struct tied_client_event *ev)
{
    const uint32_t replica = ev->replica;
    struct ti_replica *r = ti_replica_at (self, replica);
    if (r->state == TIED_REPLICA_DOWN || r->state == TIED_REPLICA_MISNAMED)
        return;
    if (!ev->u.welcome.id_matches) {
        doom (self, replica);
        unschedule (self, replica);
        r->state = TIED_REPLICA_MISNAMED;
        self->counters.replicas_misnamed++;
        return;
    }
    if (ev->u.welcome.incarnation == 0)
        return;
    const bool is_new = r->state == TIED_REPLICA_GREETED;
    if (!is_new && r->incarnation != ev->u.welcome.incarnation) {
        doom (self, replica);
        r->avoid_beats = 0;
    }
    if (self->options.probation_milli && r->incarnation != ev->u.welcome.incarnation)
        ti_health_forget (ti_health_of (self), replica);
    r->incarnation = ev->u.welcome.incarnation;
    r->modes = (uint8_t)(ev->u.welcome.modes | TIED_WIRE_MODES_OLD);
    (void)ti_delay_echo (&r->delay, ev->u.welcome.echo, self->now);
    r->is_heard = true;
    report (self, r, &ev->u.welcome.load);
    enter_up (self, replica);
}

void ti_client_pong (ti_core *self, const struct tied_client_event *ev)
{
    struct ti_replica *r = ti_replica_at (self, ev->replica);
    if (r->state == TIED_REPLICA_UP || r->state == TIED_REPLICA_SUSPECT)
        (void)ti_delay_echo (&r->delay, ev->u.pong.echo, self->now);
    ti_client_hear (self, ev->replica, &ev->u.pong.load);
}

void ti_client_heartbeat (ti_core *self, uint32_t replica)
{
    struct ti_replica *r = ti_replica_at (self, replica);
    schedule (self, replica);
    if (r->state == TIED_REPLICA_GREETED) {
        probe (self, replica, TIED_CLIENT_ACT_SEND_HELLO);
        return;
    }
    if (r->is_heard)
        r->misses = 0;
    else if (r->misses < self->options.heartbeat_misses)
        r->misses++;
    r->is_heard = false;
    if (r->avoid_beats > 0 && --r->avoid_beats == 0 && r->state == TIED_REPLICA_UP)
        make_usable (self, replica);
    if (r->state == TIED_REPLICA_UP && r->misses >= self->options.heartbeat_misses) {
        doom (self, replica);
        r->state = TIED_REPLICA_SUSPECT;
    }
    probe (self, replica, TIED_CLIENT_ACT_SEND_PING);
}

void ti_client_stale (ti_core *self, uint32_t replica)
{
    struct ti_replica *r = ti_replica_at (self, replica);
    if (r->state != TIED_REPLICA_UP && r->state != TIED_REPLICA_SUSPECT)
        return;
    doom (self, replica);
    r->state = TIED_REPLICA_GREETED;
    r->incarnation = 0;
    r->load_at = 0;
    r->avoid_beats = 0;
    probe (self, replica, TIED_CLIENT_ACT_SEND_HELLO);
    schedule (self, replica);
}

void ti_client_draining (ti_core *self, uint32_t replica)
{
    struct ti_replica *r = ti_replica_at (self, replica);
    if (r->state != TIED_REPLICA_UP && r->state != TIED_REPLICA_SUSPECT)
        return;
    r->avoid_beats = AVOID_BEATS;
    make_unusable (self, replica);
}
