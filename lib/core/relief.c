/* SPDX-License-Identifier: MIT */
/*
 * R is what is left of an execution that has run for d, Y what one takes from its start. Without a
 * hedge R is worked off; with one, both run for min (R, Y). The difference, R - 2 min (R, Y), is
 * what a hedge saves in the mean; an area under the survival curve, so no product of three shares.
 * With exponential service it is nothing at any d, and a quarter of R is asked for, so that noise
 * makes no relief of it.
 */
#include "core/relief.h"

#include "base/util.h"

/* So many delays are looked at, each a quarter longer than the one before. */
#define CANDIDATES 24u
/* Executions that are still running when one is first looked at, at most: what most calls take is
 * no outlier. */
#define OUTLIERS_PPM 250000u

/* Hedges that have ended before they are judged, and of which half are forgotten. */
#define TRIAL    4u
#define MEMORY   64u
#define HOLD_MIN TIED_S (4)
#define HOLD_MAX TIED_S (256)

/* Parts per million times ns, of all executions; the products stay below 2^57. */
struct saving {
    uint64_t rest;   /* that is left at d */
    uint64_t saved;  /* of it, by hedges; 0: nothing, or not enough */
    bool is_unknown; /* most of those that run at d were cut short */
};

static struct saving saving_at (const struct ti_curve *service, uint32_t at)
{
    const struct ti_curve_point *points = service->points;
    const tied_duration_t d = points[at].at;
    const uint64_t end = points[service->count - 1].surviving_ppm;
    struct saving out = {.is_unknown = end * 2 > points[at].surviving_ppm};
    uint64_t both = 0, late = points[at].surviving_ppm, anew = TIED_PPM;
    tied_duration_t since = 0;
    uint32_t i = at + 1, j = 0;
    while (i < service->count) {
        const tied_duration_t next_rest = points[i].at - d;
        const tied_duration_t next_anew = j < service->count ? points[j].at : TIED_NEVER;
        const tied_duration_t next = ti_min (next_rest, next_anew);
        out.rest += (next - since) * (late - end);
        both += (next - since) * ((late - end) * anew / TIED_PPM);
        since = next;
        if (next_rest == next)
            late = points[i++].surviving_ppm;
        if (next_anew == next)
            anew = points[j++].surviving_ppm;
    }
    const uint64_t saved = ti_time_sub (out.rest, 2 * both);
    out.saved = saved >= out.rest / 4 ? saved : 0;
    return out;
}

static uint32_t first_below (const struct ti_curve *service, uint32_t ppm)
{
    uint32_t i = 0;
    while (i < service->count && service->points[i].surviving_ppm > ppm)
        i++;
    return i;
}

void ti_relief (const struct ti_curve *service,
                uint32_t budget_ppm,
                const struct ti_relief *before,
                struct ti_relief *out)
{
    uint64_t most = 0;
    uint32_t at = first_below (service, OUTLIERS_PPM);
    *out = TI_RELIEF_NONE;
    for (uint32_t n = 0; n < CANDIDATES && at < service->count; n++) {
        const tied_duration_t d = service->points[at].at;
        const bool is_within = service->points[at].surviving_ppm <= budget_ppm;
        const struct saving saving = saving_at (service, at);
        if (saving.is_unknown) {
            out->from_ns = ti_min (out->from_ns, d);
            if (is_within && most == 0)
                out->delay_ns = before->delay_ns == TIED_NEVER ? d : before->delay_ns;
            break;
        }
        if (saving.saved) {
            out->from_ns = ti_min (out->from_ns, d);
            /* The latest that saves nine tenths of the most: one that ends by itself needs none. */
            if (saving.saved * 10 >= most * 9)
                out->delay_ns = d;
            most = ti_max (most, is_within ? saving.saved : 0);
        }
        while (at < service->count && service->points[at].at < d + d / 4)
            at++;
    }
    if (out->delay_ns == TIED_NEVER)
        out->delay_ns = out->from_ns;
}

void ti_relief_ended (struct ti_relief_trust *self, bool has_won, tied_time_t now)
{
    /* What was still on its way. */
    if (now < self->until)
        return;
    self->hedges++;
    self->wins += has_won;
    if (self->hedges >= TRIAL && self->wins * 4 < self->hedges) {
        self->hold = ti_max (HOLD_MIN, ti_min (2 * self->hold, HOLD_MAX));
        self->until = ti_time_add (now, self->hold);
        self->hedges = self->wins = 0;
    } else if (self->hedges >= MEMORY) {
        self->hold = 0;
        self->hedges /= 2;
        self->wins /= 2;
    }
}
