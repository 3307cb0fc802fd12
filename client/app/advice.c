/* SPDX-License-Identifier: MIT */
#include "advice.h"

#include <stdlib.h>
#include <string.h>

#include <tied/error.h>

#include "base/prng.h"
#include "base/util.h"
#include "core/latency.h"
#include "core/single_r.h"

/* A gain below this share of the percentile is not worth another thing that can break. */
#define WORTH_PPM 50000u
/* Percentiles that differ by less than this are as good as each other: the cheaper one wins. */
#define ALIKE_PPM 50000u
/* With more calls than this unanswered the trouble is another one. */
#define FAILING_PPM 100000u
/* The window of a batch: all samples come at once. */
#define WINDOW TIED_S (3600)

#define P50   500000u
#define P99   990000u
#define P99_9 999000u

/* What one way would make of the calls. */
struct way {
    const struct ti_curve *curve; /* without its hedge */
    bool is_tied;
    bool is_hedged;
    struct ti_single_r_plan plan;
    uint64_t reached_ns; /* at the target */
};

struct work {
    const struct advice_question *question;
    struct ti_curve single, tied;
    struct way ways[4]; /* by enum advice_verdict */
};

int advice_samples_add (struct advice_samples *self, uint64_t latency_ns, uint64_t queue_ns)
{
    if (self->count == ADVICE_SAMPLES_MAX) {
        self->dropped++;
        return 0;
    }
    if (self->count == self->capacity) {
        const uint32_t capacity = self->capacity ? 2 * self->capacity : 4096;
        struct advice_sample *items = realloc (self->items, capacity * sizeof *items);
        if (!items)
            return TIED_ERR_NOMEM;
        self->items = items;
        self->capacity = capacity;
    }
    self->items[self->count++] = (struct advice_sample){latency_ns, ti_min (queue_ns, latency_ns)};
    return 0;
}

void advice_samples_deinit (struct advice_samples *self)
{
    free (self->items);
    *self = (struct advice_samples){.items = NULL};
}

static uint64_t part_of (uint64_t value, uint32_t ppm)
{
    return value / TIED_PPM * ppm + value % TIED_PPM * ppm / TIED_PPM;
}

/* How long the call would have taken, had it waited in the shorter of two queues: the other one is
 * that of a call drawn from the rest. */
static uint64_t
tied_latency (const struct advice_samples *samples, uint32_t index, struct ti_prng *prng)
{
    const struct advice_sample *sample = &samples->items[index];
    const struct advice_sample *other = &samples->items[ti_prng_below (prng, samples->count)];
    return sample->latency_ns - sample->queue_ns + ti_min (sample->queue_ns, other->queue_ns);
}

static int make_curves (const struct advice_samples *samples, struct work *work)
{
    struct ti_prng prng;
    void *memory[2] = {malloc (ti_latency_size ()), malloc (ti_latency_size ())};
    const bool is_made = memory[0] && memory[1];
    ti_prng_seed (&prng, 1);
    if (is_made) {
        struct ti_latency *single = ti_latency_init (memory[0], WINDOW);
        struct ti_latency *tied = ti_latency_init (memory[1], WINDOW);
        for (uint32_t i = 0; i < samples->count; i++) {
            ti_latency_ended (single, samples->items[i].latency_ns, 0);
            ti_latency_ended (tied, tied_latency (samples, i, &prng), 0);
        }
        ti_latency_curve (single, &work->single);
        ti_latency_curve (tied, &work->tied);
    }
    free (memory[0]);
    free (memory[1]);
    return is_made ? 0 : TIED_ERR_NOMEM;
}

/* Of the time that the slowest 1 % took, what they waited in queues. */
static uint32_t waiting_share (const struct advice_samples *samples, const struct ti_curve *curve)
{
    /* The upper end of its bucket, which may be above every sample of it. */
    const uint64_t p99 = ti_curve_percentile (curve, P99);
    const uint64_t from = p99 - p99 / 16;
    double waited = 0, took = 0;
    for (uint32_t i = 0; i < samples->count; i++) {
        if (samples->items[i].latency_ns < from)
            continue;
        waited += (double)samples->items[i].queue_ns;
        took += (double)samples->items[i].latency_ns;
    }
    return took > 0 ? (uint32_t)(waited / took * TIED_PPM) : 0;
}

/* The percentile with hedges after the delay: P (T > t) = P (X > t) (1 - q P (Y <= t - d)). */
static uint64_t reached (const struct way *way, uint32_t ppm)
{
    const struct ti_curve *curve = way->curve;
    const uint64_t without = ti_curve_percentile (curve, ppm);
    if (!way->is_hedged)
        return without;
    /* Candidates: where X or the hedge's Y + d has a step; each is tried as t. */
    uint64_t best = without;
    for (uint32_t i = 0; i < 2 * curve->count; i++) {
        const uint64_t t = i < curve->count
                               ? curve->points[i].at
                               : curve->points[i - curve->count].at + way->plan.delay_ns;
        if (t >= best || t < way->plan.delay_ns)
            continue;
        const uint64_t done = TIED_PPM - ti_curve_surviving (curve, t - way->plan.delay_ns);
        const uint64_t hedged = done * way->plan.probability_ppm / TIED_PPM;
        const uint64_t late = ti_curve_surviving (curve, t) * (TIED_PPM - hedged) / TIED_PPM;
        if (late <= TIED_PPM - ppm)
            best = t;
    }
    return best;
}

static void try_way (struct work *work, enum advice_verdict verdict, uint32_t target_ppm)
{
    struct tied_policy defaults;
    tied_policy_init (&defaults);
    struct way *way = &work->ways[verdict];
    *way = (struct way){.is_tied = verdict == ADVICE_TIE || verdict == ADVICE_TIE_AND_HEDGE,
                        .is_hedged = verdict == ADVICE_HEDGE || verdict == ADVICE_TIE_AND_HEDGE};
    way->curve = way->is_tied ? &work->tied : &work->single;
    if (way->is_hedged) {
        const struct ti_single_r_options options = {.target_ppm = target_ppm,
                                                    .budget_ppm = work->question->extra_load_ppm,
                                                    .floor_ns = defaults.hedge_floor_ns,
                                                    .ceiling_ns = defaults.hedge_ceiling_ns,
                                                    .min_saving_ppm = WORTH_PPM};
        ti_single_r (&options, way->curve, NULL, 0, &way->plan);
        way->is_hedged = way->plan.is_worth;
    }
    way->reached_ns = reached (way, target_ppm);
}

/* The cheapest of those that are as good as the best: a tie runs nothing twice. */
static enum advice_verdict choose (const struct work *work)
{
    const struct way *ways = work->ways;
    uint64_t best = UINT64_MAX;
    for (uint32_t i = 0; i < 4; i++)
        best = ti_min (best, ways[i].reached_ns);
    if (best + part_of (ways[0].reached_ns, WORTH_PPM) > ways[0].reached_ns)
        return ADVICE_NEITHER;
    for (uint32_t i = 1; i < 4; i++)
        if (ways[i].reached_ns <= best + part_of (best, ALIKE_PPM))
            return (enum advice_verdict)i;
    return ADVICE_NEITHER;
}

static struct advice_gain gain_at (const struct work *work, const struct way *way, uint32_t ppm)
{
    return (struct advice_gain){.ppm = ppm,
                                .without_ns = ti_curve_percentile (&work->single, ppm),
                                .with_ns = reached (way, ppm)};
}

static void propose (const struct advice_question *question, struct advice *out)
{
    struct tied_policy *policy = &out->policy;
    tied_policy_init (policy);
    policy->extra_load_ppm = question->extra_load_ppm;
    policy->target_ppm = out->target_ppm;
    policy->is_idempotent = true;
    policy->mode = out->would == ADVICE_TIE || out->would == ADVICE_TIE_AND_HEDGE
                       ? TIED_MODE_TIED
                       : TIED_MODE_SINGLE;
    if (out->would == ADVICE_HEDGE || out->would == ADVICE_TIE_AND_HEDGE)
        policy->hedge.kind = TIED_HEDGE_RULE_AUTO;
}

/* Without the declaration there is one way left: a tie whose copies never both run. */
static void declare (struct work *work, struct advice *out)
{
    const uint64_t single = work->ways[ADVICE_NEITHER].reached_ns;
    out->verdict = out->would;
    if (out->would == ADVICE_NEITHER)
        out->reason = ADVICE_NO_BENEFIT;
    if (out->would == ADVICE_NEITHER || work->question->declared == ADVICE_YES)
        return;
    out->verdict = ADVICE_NEITHER;
    out->reason =
        work->question->declared == ADVICE_NO ? ADVICE_NOT_IDEMPOTENT : ADVICE_NOT_DECLARED;
    if (work->question->declared == ADVICE_NO &&
        work->ways[ADVICE_TIE].reached_ns + part_of (single, WORTH_PPM) <= single) {
        out->verdict = out->would = ADVICE_TIE;
        out->reason = ADVICE_NONE;
        propose (work->question, out);
        out->policy.mode = TIED_MODE_EXCLUSIVE;
        out->policy.is_idempotent = false;
    }
}

static void judge (struct work *work, struct advice *out)
{
    const struct advice_samples *samples = work->question->samples;
    for (uint32_t i = 0; i < 4; i++)
        try_way (work, (enum advice_verdict)i, out->target_ppm);
    out->waiting_ppm = waiting_share (samples, &work->single);
    out->would = choose (work);
    propose (work->question, out);
    declare (work, out);
    const struct way *way = &work->ways[out->would];
    out->p50 = gain_at (work, way, P50);
    out->p99 = gain_at (work, way, P99);
    if (samples->count >= ADVICE_P99_9_SAMPLES)
        out->p99_9 = gain_at (work, way, P99_9);
    if (!way->is_hedged)
        return;
    out->extra_ppm = way->plan.hedged_ppm;
    out->delay_ns = way->plan.delay_ns;
    out->benefit_ns = ti_single_r_benefit (way->curve, NULL, way->plan.delay_ns, out->target_ppm);
}

int advice_give (const struct advice_question *question, struct advice *out)
{
    const struct advice_samples *samples = question->samples;
    const uint64_t all = samples->count + samples->dropped + samples->failed;
    struct work *work = NULL;
    int rc = 0;
    *out = (struct advice){.target_ppm = samples->count >= ADVICE_P99_9_SAMPLES ? P99_9 : P99,
                           .delay_ns = TIED_NEVER,
                           .benefit_ns = TIED_NEVER};
    propose (question, out);
    if (samples->failed > part_of (all, FAILING_PPM)) {
        out->reason = ADVICE_FAILING;
        return 0;
    }
    if (samples->count < ADVICE_P99_SAMPLES) {
        out->reason = ADVICE_FEW_SAMPLES;
        return 0;
    }
    work = calloc (1, sizeof *work);
    if (!work)
        return TIED_ERR_NOMEM;
    work->question = question;
    rc = make_curves (samples, work);
    if (rc == 0)
        judge (work, out);
    free (work);
    return rc;
}

#define WORD(name, number, word) [(number)] = (word),
const char *advice_verdict_name (enum advice_verdict verdict)
{
    static const char *const words[] = {ADVICE_VERDICT_MAP (WORD)};
    return words[verdict];
}

const char *advice_reason_name (enum advice_reason reason)
{
    static const char *const words[] = {ADVICE_REASON_MAP (WORD)};
    return words[reason];
}
