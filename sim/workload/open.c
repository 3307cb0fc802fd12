/* SPDX-License-Identifier: MIT */
/* Linear probing, removal by moving back what comes after; see open.h. */
#include "workload/open.h"

#include <stdlib.h>

#include "engine/memory.h"

#define BITS_FIRST 10

/*
 * Fibonacci hashing (Knuth 6.4): numbers in a row, as these are, lie as far apart as can be. With
 * the number itself as its place they would form one block, and a removal would walk to its end.
 */
static uint64_t home_of (const struct sim_open *self, uint64_t number)
{
    return number * UINT64_C (0x9e3779b97f4a7c15) >> self->shift;
}

bool sim_open_init (struct sim_open *self)
{
    self->count = 0;
    self->mask = (1u << BITS_FIRST) - 1;
    self->shift = 64 - BITS_FIRST;
    self->slots = calloc (1u << BITS_FIRST, sizeof *self->slots);
    return self->slots != NULL;
}

void sim_open_deinit (struct sim_open *self)
{
    free (self->slots);
    self->slots = NULL;
}

static struct sim_open_request *free_slot (struct sim_open *self, uint64_t number)
{
    uint64_t i = home_of (self, number);
    while (self->slots[i].key)
        i = (i + 1) & self->mask;
    return &self->slots[i];
}

static void grow (struct sim_open *self)
{
    struct sim_open_request *old = self->slots;
    uint64_t old_slots = self->mask + 1;
    struct sim_open_request *slots = calloc (old_slots, 2 * sizeof *slots);
    if (slots == NULL)
        sim_memory_failed ();
    self->slots = slots;
    self->mask = 2 * old_slots - 1;
    self->shift--;
    for (uint64_t i = 0; i < old_slots; i++)
        if (old[i].key)
            *free_slot (self, old[i].key - 1) = old[i];
    free (old);
}

struct sim_open_request *sim_open_add (struct sim_open *self, uint64_t number)
{
    if (2 * (self->count + 1) > self->mask)
        grow (self);
    struct sim_open_request *entry = free_slot (self, number);
    *entry = (struct sim_open_request){.key = number + 1};
    self->count++;
    return entry;
}

struct sim_open_request *sim_open_find (struct sim_open *self, uint64_t number)
{
    for (uint64_t i = home_of (self, number); self->slots[i].key; i = (i + 1) & self->mask)
        if (self->slots[i].key == number + 1)
            return &self->slots[i];
    return NULL;
}

void sim_open_remove (struct sim_open *self, struct sim_open_request *entry)
{
    uint64_t hole = (uint64_t)(entry - self->slots);
    for (uint64_t i = (hole + 1) & self->mask; self->slots[i].key; i = (i + 1) & self->mask) {
        uint64_t home = home_of (self, self->slots[i].key - 1);
        /* It may move into the hole unless its home lies between the two. */
        if (((i - home) & self->mask) >= ((i - hole) & self->mask)) {
            self->slots[hole] = self->slots[i];
            hole = i;
        }
    }
    self->slots[hole].key = 0;
    self->count--;
}
