/* SPDX-License-Identifier: MIT */
/* Timers: a tournament, in which a change is played from its leaf to the final. */
#include "engine/events_internal.h"

static uint32_t leaves_for (uint32_t count)
{
    uint32_t leaves = 1;

    while (leaves < count)
        leaves *= 2;
    return leaves;
}

bool sim_events_add_timers (struct sim_events *self, uint32_t few, uint32_t count)
{
    const uint32_t few_leaves = leaves_for (few);
    const uint32_t other_leaves = leaves_for (count - few);

    TI_ASSERT (self->timers == NULL && count >= 1 && few <= count && count <= SIM_ITEM_MASK);
    self->timers_nodes = (uint32_t)ti_max (4 * (uint64_t)few_leaves, 3 * (uint64_t)other_leaves);
    self->timers = malloc (self->timers_nodes * sizeof *self->timers);
    if (self->timers == NULL)
        return false;
    self->timers_count = count;
    self->timers_few = few;
    self->few_leaf = 3 * few_leaves;
    self->other_leaf = 2 * other_leaves - few;
    for (uint32_t i = 0; i < self->timers_nodes; i++)
        self->timers[i] = sim_no_key;
    return true;
}

static inline uint32_t leaf_of (const struct sim_events *self, uint32_t timer)
{
    return timer + (timer < self->timers_few ? self->few_leaf : self->other_leaf);
}

/* Plays the matches from the timer's leaf up to the final. */
static inline void play (struct sim_events *self, uint32_t timer, struct sim_key key)
{
    struct sim_key *timers = self->timers;

    for (uint32_t node = leaf_of (self, timer); node > 1; node /= 2) {
        timers[node] = key;
        key = sim_earlier_of (key, timers[node ^ 1u]);
    }
    timers[1] = key;
    sim_set_first (self, SIM_TIMERS, key);
}

/* The one that was taken stays off for now. */
void sim_timers_settle (struct sim_events *self)
{
    const uint32_t timer = self->timer_taken;

    self->timer_taken = SIM_EVENT_NONE;
    play (self, timer, sim_no_key);
}

void sim_events_set_timer (struct sim_events *self, uint32_t timer, tied_time_t at)
{
    TI_ASSERT (timer < self->timers_count);
    self->count -= self->timers[leaf_of (self, timer)].at != TIED_NEVER;
    self->count += at != TIED_NEVER;
    if (self->timer_taken == timer)
        self->timer_taken = SIM_EVENT_NONE;
    else if (self->timer_taken != SIM_EVENT_NONE)
        sim_timers_settle (self);
    play (self, timer,
          at == TIED_NEVER ? sim_no_key : (struct sim_key){at, sim_events_order (self) | timer});
}

tied_time_t sim_events_timer (const struct sim_events *self, uint32_t timer)
{
    TI_ASSERT (timer < self->timers_count);
    return self->timers[leaf_of (self, timer)].at;
}

void sim_timers_take (struct sim_events *self, struct sim_event *out)
{
    const struct sim_key key = {self->first_at[SIM_TIMERS], self->first_order[SIM_TIMERS]};

    out->at = key.at;
    out->order = key.order;
    out->kind = SIM_EVENT_TIMER;
    out->a = (uint32_t)(key.order & SIM_ITEM_MASK);
    out->b = 0;
    out->value = 0;
    out->size = 0;
    out->bytes = NULL;
    self->timers[leaf_of (self, out->a)] = sim_no_key;
    self->timer_taken = out->a;
}
