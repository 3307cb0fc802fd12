/* SPDX-License-Identifier: MIT */
/* Idle servers as a set with O(1) removal, and the calls that wait for one; see idle.h. */
#include <stdlib.h>

#include "reference/idle.h"

int sim_ref_idle_init (struct sim_ref *ref, char why[SIM_WHY_MAX])
{
    const uint32_t count = ref->servers_count;
    struct sim_ref_idle *self = calloc (1, sizeof *self);
    (void)why;
    ref->state = self;
    if (!self)
        return TIED_ERR_SYSTEM;
    self->busy = calloc (count, sizeof *self->busy);
    self->items = malloc (count * sizeof *self->items);
    self->places = malloc (count * sizeof *self->places);
    self->head = self->tail = SIM_REF_NONE;
    if (!self->busy || !self->items || !self->places)
        return TIED_ERR_SYSTEM;
    for (uint32_t i = 0; i < count; i++)
        self->items[i] = self->places[i] = i;
    self->count = count;
    return 0;
}

void sim_ref_idle_deinit (struct sim_ref *ref)
{
    struct sim_ref_idle *self = ref->state;
    if (!self)
        return;
    free (self->busy);
    free (self->items);
    free (self->places);
    free (self);
}

uint32_t
sim_ref_idle_give (struct sim_ref_idle *self, struct sim_ref *ref, uint32_t call, uint32_t skipped)
{
    const uint32_t place = skipped == SIM_REF_NONE ? SIM_REF_NONE : self->places[skipped];
    const uint32_t choices = self->count - (place != SIM_REF_NONE);
    TI_ASSERT (choices > 0);
    uint32_t at = (uint32_t)ti_prng_below (sim_ref_between (ref), choices);
    /* The last one stands in for the one that is skipped. */
    if (at == place)
        at = choices;
    const uint32_t server = self->items[at];
    if (++self->busy[server] == ref->workers) {
        const uint32_t last = self->items[--self->count];
        self->items[at] = last;
        self->places[last] = at;
        self->places[server] = SIM_REF_NONE;
    }
    return sim_ref_copy_new (ref, call, server);
}

void sim_ref_idle_back (struct sim_ref_idle *self, const struct sim_ref *ref, uint32_t server)
{
    TI_ASSERT (self->busy[server] > 0);
    if (self->busy[server]-- == ref->workers) {
        self->places[server] = self->count;
        self->items[self->count++] = server;
    }
}

void sim_ref_idle_queue (struct sim_ref_idle *self, struct sim_ref *ref, uint32_t call)
{
    if (self->queued >= (uint64_t)ref->depth_max * ref->servers_count) {
        if (ref->calls[call].is_measured)
            ref->result->rejections++;
        return;
    }
    sim_ref_hold (ref, call);
    ref->calls[call].next = SIM_REF_NONE;
    if (self->tail == SIM_REF_NONE)
        self->head = call;
    else
        ref->calls[self->tail].next = call;
    self->tail = call;
    self->queued++;
    sim_ref_level_add (ref, &ref->waiting, 1);
}

uint32_t sim_ref_idle_next (struct sim_ref_idle *self, struct sim_ref *ref)
{
    while (self->head != SIM_REF_NONE) {
        const uint32_t call = self->head;
        self->head = ref->calls[call].next;
        if (self->head == SIM_REF_NONE)
            self->tail = SIM_REF_NONE;
        self->queued--;
        sim_ref_level_add (ref, &ref->waiting, -1);
        if (ref->calls[call].deadline > ref->now)
            return call;
        if (ref->calls[call].is_measured)
            ref->result->rejections++;
        sim_ref_release (ref, call);
    }
    return SIM_REF_NONE;
}
