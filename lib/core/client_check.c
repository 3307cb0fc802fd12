/* SPDX-License-Identifier: MIT */
/* Walks over a whole client core: every invariant, and a hash of what decides its future. */
#include "core/client_state.h"

static const struct ti_call *call_at (const ti_core *self, uint32_t token)
{
    return TI_AT_CONST (struct ti_call, self, self->calls) + token;
}

static const struct ti_copy *copy_at (const ti_core *self, uint32_t node)
{
    return TI_AT_CONST (struct ti_copy, self, self->copies) + node;
}

static const struct ti_replica *replica_at (const ti_core *self, uint32_t replica)
{
    return TI_AT_CONST (struct ti_replica, self, self->replicas) + replica;
}

static const struct ti_link *links_of (const ti_core *self)
{
    return TI_AT_CONST (struct ti_link, self, self->links);
}

static void check_counters (const ti_core *self)
{
    const struct tied_client_counters *n = &self->counters;
    TI_ASSERT (n->copies_sent == n->copies_won + n->copies_lost_race + n->copies_failed +
                                     n->copies_rejected + n->copies_lost + n->copies_abandoned +
                                     self->copies_in_flight);
    TI_ASSERT (n->copies_sent ==
               n->copies_primary + n->copies_tied + n->copies_hedged + n->copies_reissued);
    TI_ASSERT (n->wins_tied + n->wins_hedged <= n->calls_ok + n->calls_app_error);
    TI_ASSERT (n->wins_tied <= n->copies_tied && n->wins_hedged <= n->copies_hedged);
    TI_ASSERT (n->submitted == n->calls_ok + n->calls_app_error + n->calls_rejected +
                                   n->calls_deadline + n->calls_cancelled + n->calls_unavailable +
                                   n->calls_unimplemented + n->calls_invalid + self->live_calls);
}

static void check_call (const ti_core *self, uint32_t token)
{
    const struct ti_call *call = call_at (self, token);
    const struct ti_slot *slot =
        TI_AT_CONST (struct ti_slot, self, self->slots) + (call->sequence & self->slot_mask);
    const bool is_mine = slot->token == token && slot->sequence == call->sequence;
    TI_ASSERT (call->is_live == is_mine);
    const bool is_in_waiting = !ti_links_is_alone (links_of (self), ti_call_node (self, token));
    TI_ASSERT (is_in_waiting == call->is_waiting);
    if (!call->is_live) {
        TI_ASSERT (!call->is_waiting);
        TI_ASSERT (!ti_heap_has (&self->due, token));
        return;
    }
    ti_race_check (&call->race);
    /* By its deadline, for which it was too late to send anything more. */
    const bool is_ending = call->race.alive != 0 && call->deadline != TIED_NEVER;
    if (call->is_waiting)
        TI_ASSERT (!ti_race_is_certain (&call->race));
    else
        TI_ASSERT (ti_race_is_certain (&call->race) || is_ending);
    const tied_time_t due = ti_client_due (call);
    TI_ASSERT (!call->race.is_hedge_planned || call->hedge_not_sent == TIED_NOT_SENT_NONE);
    TI_ASSERT (!call->race.is_hedge_planned || call->race.sent != 0 || call->is_waiting);
    TI_ASSERT (call->relief_due == TIED_NEVER || (call->may_relieve && !call->race.hedged));
    TI_ASSERT (!call->may_relieve || call->race.is_idempotent);
    TI_ASSERT (ti_heap_has (&self->due, token) == (due != TIED_NEVER));
    TI_ASSERT (due == TIED_NEVER || ti_heap_time (&self->due, token) == due);
}

/* Length of a list of copies; each is alive, and doomed exactly if the list is. */
static uint32_t check_copies (const ti_core *self, uint32_t list, bool is_doomed)
{
    const struct ti_link *links = links_of (self);
    uint32_t count = 0;
    for (uint32_t node = links[list].next; node != list; node = links[node].next) {
        TI_ASSERT (node < self->options.calls_max * self->stride);
        TI_ASSERT (links[links[node].next].prev == node);
        const struct ti_call *call = call_at (self, node / self->stride);
        const struct ti_copy *copy = copy_at (self, node);
        TI_ASSERT (call->is_live);
        TI_ASSERT (call->race.alive & TI_RACE_BIT (node % self->stride));
        TI_ASSERT (copy->replica < self->replica_count);
        const bool is_old = copy->generation != replica_at (self, copy->replica)->generation;
        TI_ASSERT (is_old == is_doomed);
        TI_ASSERT (is_doomed || list == ti_replica_list (self, copy->replica));
        count++;
    }
    return count;
}

static void check_replica (const ti_core *self, uint32_t replica)
{
    const struct ti_replica *r = replica_at (self, replica);
    const bool has_link = r->state == TIED_REPLICA_GREETED || r->state == TIED_REPLICA_UP ||
                          r->state == TIED_REPLICA_SUSPECT;
    TI_ASSERT (ti_heap_has (&self->beats, replica) == has_link);
    TI_ASSERT (r->is_usable == (r->state == TIED_REPLICA_UP && r->avoid_beats == 0));
    TI_ASSERT (!r->is_usable || r->incarnation != 0);
    TI_ASSERT (r->in_flight == 0 || r->state == TIED_REPLICA_UP);
    TI_ASSERT (check_copies (self, ti_replica_list (self, replica), false) == r->in_flight);
}

void tied_client_core_check (const tied_client_core_t *self)
{
    uint32_t live = 0;
    uint32_t usable = 0;
    uint32_t alive = 0;
    uint32_t tokens = 0;
    uint32_t in_flight = check_copies (self, ti_doomed_list (self), true);
    check_counters (self);
    ti_heap_check (&self->due);
    ti_heap_check (&self->beats);
    for (uint32_t method = 0; method < self->options.methods_max; method++)
        ti_method_check (ti_method_at_const (self, method));
    if (self->options.probation_milli) {
        const struct ti_health *health = TI_AT_CONST (struct ti_health, self, self->health);
        ti_health_check (health);
        TI_ASSERT (health->members == self->usable_count);
    }
    for (uint32_t token = 0; token < self->options.calls_max; token++) {
        const struct ti_call *call = call_at (self, token);
        check_call (self, token);
        live += call->is_live;
        for (uint16_t bits = call->is_live ? call->race.alive : 0; bits; bits &= bits - 1)
            alive++;
    }
    for (uint32_t i = 0; i <= self->slot_mask; i++)
        tokens += TI_AT_CONST (struct ti_slot, self, self->slots)[i].token != TI_NO_TOKEN;
    for (uint32_t replica = 0; replica < self->replica_count; replica++) {
        check_replica (self, replica);
        in_flight += replica_at (self, replica)->in_flight;
        usable += replica_at (self, replica)->is_usable;
    }
    for (uint32_t i = 0; i < self->usable_count; i++) {
        const uint32_t replica = TI_AT_CONST (uint32_t, self, self->usable)[i];
        TI_ASSERT (replica < self->replica_count && replica_at (self, replica)->is_usable);
    }
    TI_ASSERT (live == self->live_calls);
    TI_ASSERT (tokens == self->live_calls);
    TI_ASSERT (usable == self->usable_count);
    TI_ASSERT (in_flight == self->copies_in_flight);
    TI_ASSERT (alive == self->copies_in_flight);
}

struct hash {
    uint64_t value;
};

static void add (struct hash *hash, uint64_t value)
{
    hash->value = ti_mix (hash->value ^ value) + UINT64_C (0x9e3779b97f4a7c15);
}

static void add_time (const ti_core *self, struct hash *hash, tied_time_t time)
{
    add (hash, time == TIED_NEVER ? TIED_NEVER : time - self->now);
}

static void add_list (const ti_core *self, struct hash *hash, uint32_t list)
{
    const struct ti_link *links = links_of (self);
    for (uint32_t node = links[list].next; node != list; node = links[node].next)
        add (hash, node);
    add (hash, UINT64_MAX);
}

static void add_call (const ti_core *self, struct hash *hash, uint32_t token)
{
    const struct ti_call *call = call_at (self, token);
    const struct ti_race *race = &call->race;
    add (hash, token);
    add (hash, call->sequence);
    add_time (self, hash, call->deadline);
    add (hash, call->stagger_ns);
    add (hash, call->sibling_instance);
    add (hash, call->affinity);
    add (hash, (uint64_t)call->sibling << 32 | (uint64_t)call->mode << 16 | call->not_sent);
    add (hash, race->is_planned ? call->stagger_due - self->now : 0);
    add (hash, race->is_hedge_planned && race->sent ? call->hedge_due - self->now : 0);
    add (hash, call->hedge_ns);
    add_time (self, hash, call->relief_due);
    add (hash, (uint64_t)call->method << 32 | (uint64_t)call->kept_copy << 16 | call->hedge_tries);
    add (hash, race->failed);
    add (hash, race->is_hedge_planned || race->hedged ? self->now - call->first_sent : 0);
    add (hash, (uint64_t)call->hedge_not_sent << 24 | (uint64_t)race->hedged << 8 |
                   (uint64_t)call->hedge_against << 32 | (uint64_t)call->may_relieve << 3 |
                   (uint64_t)call->is_shadowed << 2 | (uint64_t)call->is_hedge_unpaid << 1 |
                   (uint64_t)race->is_hedge_planned);
    add (hash, (uint64_t)race->sent << 48 | (uint64_t)race->alive << 32 |
                   (uint64_t)race->tied << 16 | race->lost);
    add (hash, (uint64_t)race->refused << 48 | (uint64_t)race->unsent << 32 |
                   (uint64_t)race->first_reject << 8 | (uint64_t)race->is_idempotent << 2 |
                   (uint64_t)race->is_planned << 1 | (uint64_t)race->had_last);
    for (uint8_t copy = 0; copy < self->stride; copy++) {
        if (!(race->sent & TI_RACE_BIT (copy)))
            continue;
        const struct ti_copy *c = copy_at (self, ti_copy_node (self, token, copy));
        add (hash, c->incarnation);
        add (hash, c->replica);
        add (hash, self->now - c->sent);
    }
}

/* Not what is learned: a core that learns has no two states alike. */
static void add_method (const ti_core *self, struct hash *hash, uint32_t number)
{
    const struct ti_method *method = ti_method_at_const (self, number);
    add (hash, (uint64_t)method->budget.tokens);
    if (!method->policy.is_governed)
        return;
    add (hash, method->governor.state);
    add_time (self, hash, method->governor.since);
    for (int slice = 0; slice < TI_GOVERNOR_SLICES; slice++)
        for (int event = 0; event < TI_GOVERNOR_EVENTS; event++)
            add (hash, method->governor.counts[slice][event]);
}

static void add_replica (const ti_core *self, struct hash *hash, uint32_t replica)
{
    const struct ti_replica *r = replica_at (self, replica);
    add (hash, r->incarnation);
    add (hash, r->state);
    add (hash, (uint64_t)r->misses << 24 | (uint64_t)r->avoid_beats << 16 |
                   (uint64_t)r->is_heard << 8 | (uint64_t)r->is_usable);
    const tied_duration_t age = ti_time_sub (self->now, r->load_at);
    if (r->load_at != 0 && age < self->options.load_age_ns) {
        add (hash, age);
        add (hash, (uint64_t)r->load.depth + r->load.running);
    }
    add (hash, r->delay.scaled);
    add (hash, r->delay.mean);
    add (hash, r->delay.deviation);
    add (hash, r->delay.next);
    for (int i = 0; i < TI_DELAY_PROBES; i++)
        add (hash, r->delay.probes[i] ? self->now - r->delay.probes[i] : UINT64_MAX);
    add_list (self, hash, ti_replica_list (self, replica));
}

static void add_health (const ti_core *self, struct hash *hash)
{
    const struct ti_health *health = TI_AT_CONST (struct ti_health, self, self->health);
    const struct ti_health_replica *replicas =
        TI_AT_CONST (struct ti_health_replica, health, health->replicas);
    for (uint32_t replica = 0; replica < self->replica_count; replica++) {
        const struct ti_health_replica *r = &replicas[replica];
        add (hash, (uint64_t)r->state << 48 | (uint64_t)r->good << 32 | r->wanted);
        add (hash, (uint64_t)r->is_probing << 1 | (uint64_t)r->is_known);
        add (hash, (uint64_t)r->answered << 32 | r->failed);
        add (hash, r->sum);
        add (hash, r->latency);
        add (hash, r->failing_ppm);
        add (hash, self->now - r->at);
        add (hash, self->now - r->since);
    }
}

uint64_t tied_client_core_hash (const tied_client_core_t *self)
{
    struct hash hash = {self->replica_count};
    for (int i = 0; i < 4; i++)
        add (&hash, self->prng.state[i]);
    add (&hash, self->next_sequence);
    add (&hash, (uint64_t)self->is_stopped << 1 | (uint64_t)self->is_placing);
    add (&hash, self->is_stopped ? self->stop_cursor : 0);
    add (&hash, self->turn);
    add (&hash, self->stagger.service);
    if (self->options.pick == TIED_PICK_INFORMED)
        add (&hash, self->mean.scaled);
    for (uint32_t token = 0; token < self->options.calls_max; token++)
        if (call_at (self, token)->is_live)
            add_call (self, &hash, token);
    for (uint32_t method = 0; method < self->options.methods_max; method++)
        add_method (self, &hash, method);
    for (uint32_t replica = 0; replica < self->replica_count; replica++)
        add_replica (self, &hash, replica);
    for (uint32_t i = 0; i < self->usable_count; i++)
        add (&hash, TI_AT_CONST (uint32_t, self, self->usable)[i]);
    add_list (self, &hash, ti_doomed_list (self));
    add_list (self, &hash, ti_waiting_list (self));
    if (self->options.probation_milli)
        add_health (self, &hash);
    add (&hash, ti_heap_hash (&self->due, self->now));
    add (&hash, ti_heap_hash (&self->beats, self->now));
    return hash.value;
}
