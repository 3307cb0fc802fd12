/* SPDX-License-Identifier: MIT */
/* Keys by call; see keys.h. */
#include "workload/keys.h"

#include <stdlib.h>

#include "engine/stream.h"
#include "tools/portable.h"

bool sim_keys_init (struct sim_key_table *self, const struct sim_keys *keys, uint64_t seed)
{
    double sum = 0;

    *self = (struct sim_key_table){.seed = seed, .count = keys->count};
    if (keys->count == 0 || !(keys->skew > 0))
        return true;
    self->sums = malloc (keys->count * sizeof *self->sums);
    if (self->sums == NULL)
        return false;
    for (uint32_t i = 0; i < keys->count; i++) {
        sum += ti_exp (-keys->skew * ti_log ((double)i + 1));
        self->sums[i] = sum;
    }
    return true;
}

void sim_keys_deinit (struct sim_key_table *self)
{
    free (self->sums);
    self->sums = NULL;
}

/* The first key whose sum is above `at`. */
static uint32_t find (const struct sim_key_table *self, double at)
{
    uint32_t low = 0, high = self->count - 1;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (self->sums[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

uint64_t sim_key_of (const struct sim_key_table *self, uint64_t call)
{
    uint64_t random;

    if (self->count == 0)
        return 0;
    random = sim_draw (self->seed, SIM_STREAM_KEY, call, 0);
    if (self->sums == NULL)
        return 1 + random % self->count;
    return 1 + find (self, (double)(random >> 11) * 0x1p-53 * self->sums[self->count - 1]);
}
