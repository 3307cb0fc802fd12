/* SPDX-License-Identifier: MIT */
/* Client core: its place in memory, creation, and queries. */
#include "core/client_state.h"

static uint32_t slot_count (const struct tied_client_core_options *options)
{
    uint32_t count = 2;
    while (count < 2 * options->calls_max)
        count *= 2;
    return count;
}

/* Give every array its place; returns the size of the block. */
static size_t lay_out (ti_core *self,
                       const struct tied_client_core_options *o,
                       size_t *out_due,
                       size_t *out_beats)
{
    const size_t stride = o->copies_max + 1;
    const size_t copies = o->calls_max * stride;
    size_t end = ti_align (sizeof (ti_core));
    self->calls = end;
    end += ti_align (o->calls_max * sizeof (struct ti_call));
    self->copies = end;
    end += ti_align (copies * sizeof (struct ti_copy));
    self->slots = end;
    end += ti_align (slot_count (o) * sizeof (struct ti_slot));
    self->replicas = end;
    end += ti_align (o->replicas_max * sizeof (struct ti_replica));
    self->usable = end;
    end += ti_align (o->replicas_max * sizeof (uint32_t));
    self->links = end;
    end += ti_align ((copies + o->replicas_max + o->calls_max + 2) * sizeof (struct ti_link));
    self->methods = end;
    self->method_size = ti_align (sizeof (struct ti_method)) + ti_method_size (o->learn_ns);
    end += o->methods_max * self->method_size;
    self->scratch = end;
    end += o->learn_ns ? ti_align (sizeof (struct ti_method_scratch)) : 0;
    self->kept = end;
    end += ti_align (o->calls_max * sizeof (struct tied_client_event));
    self->health = end;
    if (o->probation_milli)
        end += ti_align (sizeof (struct ti_health)) + ti_health_size (o->replicas_max);
    *out_due = end;
    end += ti_heap_size (o->calls_max);
    *out_beats = end;
    return end + ti_heap_size (o->replicas_max);
}

size_t tied_client_core_size (const struct tied_client_core_options *options)
{
    ti_core places;
    size_t due, beats;
    if (tied_client_core_options_check (options, NULL))
        return 0;
    return lay_out (&places, options, &due, &beats);
}

tied_client_core_t *
tied_client_core_init (void *memory, size_t size, const struct tied_client_core_options *options)
{
    const size_t needed = tied_client_core_size (options);
    if (!memory || needed == 0 || size < needed)
        return NULL;
    memset (memory, 0, needed);
    ti_core *self = memory;
    size_t due, beats;
    lay_out (self, options, &due, &beats);
    self->options = *options;
    self->next_sequence = options->first_sequence;
    self->slot_mask = slot_count (options) - 1;
    self->stride = options->copies_max + 1;
    ti_prng_seed (&self->prng, options->seed);
    if (options->pick == TIED_PICK_ROUND_ROBIN)
        self->turn = (uint32_t)ti_prng_below (&self->prng, UINT32_MAX);
    ti_load_scale_init (&self->scale, options->load_age_ns);
    self->stagger = (struct ti_stagger){.floor_ns = options->stagger_floor_ns,
                                        .ceiling_ns = options->stagger_ceiling_ns,
                                        .initial_ns = options->stagger_initial_ns};
    for (uint32_t i = 0; i < options->methods_max; i++) {
        struct ti_method *method = ti_method_at (self, i);
        ti_method_init (method, TI_AT (char, method, ti_align (sizeof *method)), options->learn_ns);
    }
    if (options->probation_milli) {
        struct ti_health_options health;
        ti_health_options_init (&health);
        health.slow_milli = options->probation_milli;
        ti_health_init (ti_health_of (self), ti_health_of (self) + 1, options->replicas_max,
                        &health);
    }
    ti_heap_init (&self->due, options->calls_max, due - offsetof (ti_core, due));
    ti_heap_init (&self->beats, options->replicas_max, beats - offsetof (ti_core, beats));
    for (uint32_t i = 0; i <= self->slot_mask; i++)
        TI_AT (struct ti_slot, self, self->slots)[i].token = TI_NO_TOKEN;
    for (uint32_t node = 0; node <= ti_waiting_list (self); node++)
        ti_links_reset (ti_links_of (self), node);
    return self;
}

int tied_client_core_add_replica (tied_client_core_t *self)
{
    if (self->replica_count == self->options.replicas_max)
        return TIED_ERR_FULL;
    ti_replica_at (self, self->replica_count)->identity = self->replica_count;
    return (int)self->replica_count++;
}

int tied_client_core_set_zone (tied_client_core_t *self, uint32_t replica, uint32_t zone)
{
    if (replica >= self->replica_count)
        return TIED_ERR_INVAL;
    ti_replica_at (self, replica)->zone = zone;
    self->has_zones = self->has_zones || zone != 0;
    return 0;
}

int tied_client_core_set_identity (tied_client_core_t *self, uint32_t replica, uint64_t identity)
{
    if (replica >= self->replica_count)
        return TIED_ERR_INVAL;
    ti_replica_at (self, replica)->identity = identity;
    return 0;
}

const struct tied_client_counters *tied_client_core_counters (const tied_client_core_t *self)
{
    return &self->counters;
}

uint32_t tied_client_core_live_calls (const tied_client_core_t *self)
{
    return self->live_calls;
}

uint32_t tied_client_core_copies_in_flight (const tied_client_core_t *self)
{
    return self->copies_in_flight;
}

static uint32_t health_of (const ti_core *self, uint32_t replica)
{
    if (!self->options.probation_milli)
        return TIED_HEALTH_WELL;
    return (uint32_t)ti_health_state_of (TI_AT_CONST (struct ti_health, self, self->health),
                                         replica);
}

int tied_client_core_replica (const tied_client_core_t *self,
                              uint32_t replica,
                              struct tied_client_replica *out)
{
    if (replica >= self->replica_count)
        return TIED_ERR_INVAL;
    const struct ti_replica *r = TI_AT_CONST (struct ti_replica, self, self->replicas) + replica;
    *out = (struct tied_client_replica){.state = r->state,
                                        .health = health_of (self, replica),
                                        .zone = r->zone,
                                        .incarnation = r->incarnation,
                                        .load = r->load,
                                        .load_at = r->load_at,
                                        .in_flight = r->in_flight,
                                        .round_trip_ns = ti_delay_round_trip (&r->delay)};
    return 0;
}

int tied_client_core_set_policy (tied_client_core_t *self,
                                 uint32_t method,
                                 const struct tied_policy *policy)
{
    if (method >= self->options.methods_max || tied_policy_check (policy, NULL))
        return TIED_ERR_INVAL;
    ti_method_change (ti_method_at (self, method), policy);
    return 0;
}

const struct tied_policy *tied_client_core_policy (const tied_client_core_t *self, uint32_t method)
{
    if (method >= self->options.methods_max)
        return NULL;
    return &ti_method_at_const (self, method)->policy;
}

int tied_client_core_method (const tied_client_core_t *self,
                             uint32_t method,
                             struct tied_client_method *out)
{
    if (method >= self->options.methods_max)
        return TIED_ERR_INVAL;
    ti_method_status (ti_method_at_const (self, method), out);
    return 0;
}
