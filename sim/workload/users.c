/* SPDX-License-Identifier: MIT */
/* A binary heap of those who think; see users.h. */
#include "workload/users.h"

#include <stdlib.h>

#include "base/assert.h"
#include "base/util.h"
#include "engine/stream.h"

static bool is_before (const struct sim_user *a, const struct sim_user *b)
{
    return a->at != b->at ? a->at < b->at : a->user < b->user;
}

bool sim_users_init (struct sim_users *self,
                     const struct sim_workload *workload,
                     uint64_t seed,
                     tied_time_t start)
{
    *self = (struct sim_users){.think = &workload->think, .seed = seed};
    if (workload->users == 0)
        return false;
    self->thinking = calloc (workload->users, sizeof *self->thinking);
    self->rounds = calloc (workload->users, sizeof *self->rounds);
    if (!self->thinking || !self->rounds) {
        sim_users_deinit (self);
        return false;
    }
    for (uint32_t user = 0; user < workload->users; user++)
        sim_users_think (self, user, start);
    return true;
}

void sim_users_deinit (struct sim_users *self)
{
    free (self->thinking);
    free (self->rounds);
    self->thinking = NULL;
    self->rounds = NULL;
}

tied_time_t sim_users_time (const struct sim_users *self)
{
    return self->count ? self->thinking[0].at : TIED_NEVER;
}

struct sim_user sim_users_take (struct sim_users *self)
{
    TI_ASSERT (self->count > 0);
    struct sim_user *heap = self->thinking, first = heap[0], last = heap[--self->count];
    uint32_t i = 0;
    for (uint32_t child; (child = 2 * i + 1) < self->count; i = child) {
        if (child + 1 < self->count && is_before (&heap[child + 1], &heap[child]))
            child++;
        if (!is_before (&heap[child], &last))
            break;
        heap[i] = heap[child];
    }
    heap[i] = last;
    return first;
}

void sim_users_think (struct sim_users *self, uint32_t user, tied_time_t now)
{
    uint64_t random = sim_draw (self->seed, SIM_STREAM_THINK, user, self->rounds[user]++);
    struct sim_user next = {ti_time_add (now, ti_dist_draw (self->think, random)), user};
    uint32_t i = self->count++;
    for (uint32_t parent; i > 0 && is_before (&next, &self->thinking[parent = (i - 1) / 2]);
         i = parent)
        self->thinking[i] = self->thinking[parent];
    self->thinking[i] = next;
}
