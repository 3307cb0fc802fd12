/* SPDX-License-Identifier: MIT */
/* The report as a value: policies, their distributions, and saving what a writer writes. */
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "dist.h"
#include "save.h"

/* Points for each factor of ten of 1 / (1 - share), and how far the grid goes. */
#define POINTS_PER_DECADE 24
#define DECADES_MAX       10
_Static_assert(POINTS_PER_DECADE *DECADES_MAX + 1 <= TI_REPORT_POINTS_MAX, "grid fits");

void ti_report_init (struct ti_report *self)
{
    memset (self, 0, sizeof *self);
}

void ti_report_deinit (struct ti_report *self)
{
    for (uint32_t i = 0; i < self->policies_count; i++)
        if (!self->policies[i].is_borrowed)
            free (self->policies[i].latency);
    ti_report_init (self);
}

struct ti_hist *ti_report_hist_new (void)
{
    const struct ti_hist_options options = {
        .lowest = 0, .highest = TI_DIST_MAX_NS, .unit = 1, .half_bits = 7};
    size_t size = ti_hist_size (&options);
    void *memory = malloc (size);
    return memory ? ti_hist_init (memory, size, &options) : NULL;
}

struct ti_report_policy *
ti_report_add_of (struct ti_report *self, const char *policy, struct ti_hist *latency)
{
    if (self->policies_count == TI_REPORT_POLICIES_MAX)
        return NULL;
    struct ti_report_policy *added = &self->policies[self->policies_count++];
    memset (added, 0, sizeof *added);
    added->policy = policy;
    added->latency = latency;
    added->is_borrowed = true;
    added->load = -1;
    return added;
}

struct ti_report_policy *ti_report_add (struct ti_report *self, const char *policy)
{
    struct ti_hist *latency = ti_report_hist_new ();
    struct ti_report_policy *added = latency ? ti_report_add_of (self, policy, latency) : NULL;
    if (added)
        added->is_borrowed = false;
    else
        free (latency);
    return added;
}

uint64_t ti_report_percentile (const struct ti_report_policy *policy, uint32_t ppm)
{
    for (uint32_t i = 0; i < policy->figures_count; i++)
        if (policy->figures[i].ppm == ppm)
            return policy->figures[i].ns;
    return ppm >= TI_HIST_ALL ? policy->latency->max : ti_hist_percentile (policy->latency, ppm);
}

bool ti_report_has_latency (const struct ti_report_policy *policy)
{
    return policy->latency->total > 0 && !policy->is_unstable;
}

double ti_report_per_call (const struct ti_report_policy *policy, uint64_t x)
{
    return policy->calls ? (double)x / (double)policy->calls : 0;
}

uint32_t ti_report_distribution (const struct ti_hist *latency,
                                 struct ti_report_point points[TI_REPORT_POINTS_MAX])
{
    uint32_t count = 0;
    uint64_t total = latency->total;
    if (total == 0)
        return 0;
    for (uint32_t i = 0; i < POINTS_PER_DECADE * DECADES_MAX; i++) {
        /* The share above the point; less than one sample has nothing to show. */
        double above = pow (10, -(double)i / POINTS_PER_DECADE);
        if (above * (double)total < 1)
            break;
        double rank = ceil ((1 - above) * (double)total);
        points[count].share = 1 - above;
        points[count++].ns = ti_hist_at_rank (latency, (uint64_t)rank);
    }
    points[count].share = 1;
    points[count++].ns = latency->max;
    return count;
}

struct saving {
    const struct ti_report *report;
    int (*writer) (const struct ti_report *self, FILE *file);
};

static int write_saved (const void *context, FILE *file)
{
    const struct saving *saving = context;
    return saving->writer (saving->report, file);
}

int ti_report_save (const struct ti_report *self,
                    int (*writer) (const struct ti_report *self, FILE *file),
                    const char *path)
{
    const struct saving saving = {self, writer};
    return ti_save (path, write_saved, &saving);
}
