/* SPDX-License-Identifier: MIT */
/* Quantities and identities of a replication; see verify_measure.h. */
#include "theory/verify_measure.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/assert.h"

double sim_measure_percentile (const struct ti_hist *hist, uint32_t ppm)
{
    if (hist->total == 0)
        return NAN;
    double rank = (double)hist->total * ppm / 1e6, below = 0;
    struct ti_hist_bucket bucket = {.count = 0};
    uint32_t cursor = 0;
    while (ti_hist_next (hist, &cursor, &bucket)) {
        if (below + (double)bucket.count >= rank)
            break;
        below += (double)bucket.count;
    }
    double share = fmin (fmax ((rank - below) / (double)bucket.count, 0), 1);
    return (double)bucket.first + share * (double)(bucket.last - bucket.first);
}

static double ratio (uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : NAN;
}

double
sim_measure (const struct sim_row *row, enum sim_quantity quantity, const struct sim_result *result)
{
    const struct ti_hist *latency = result->latency;
    switch (quantity) {
    case SIM_QUANTITY_MEAN:
        return latency->total ? result->latency_sum_ns / (double)latency->total / row->unit_ns
                              : NAN;
    case SIM_QUANTITY_P50:
        return sim_measure_percentile (latency, TI_HIST_P50) / row->unit_ns;
    case SIM_QUANTITY_P90:
        return sim_measure_percentile (latency, TI_HIST_P90) / row->unit_ns;
    case SIM_QUANTITY_P99:
        return sim_measure_percentile (latency, TI_HIST_P99) / row->unit_ns;
    case SIM_QUANTITY_P99_9:
        return sim_measure_percentile (latency, TI_HIST_P99_9) / row->unit_ns;
    case SIM_QUANTITY_DUPLICATES:
        return ratio (result->duplicates, result->calls);
    case SIM_QUANTITY_EXECUTIONS:
        return ratio (result->executions, result->calls);
    case SIM_QUANTITY_REJECTS:
        return ratio (result->rejections, result->calls);
    case SIM_QUANTITY_EXTRA:
        return ratio (result->copies, result->calls) - 1;
    case SIM_QUANTITY_UTILISATION:
        return ratio (result->busy_ns, result->span_ns) / (double)result->workers;
    case SIM_QUANTITIES:
        break;
    }
    TI_UNREACHABLE ();
}

struct identity {
    const char *text;
    uint64_t is, should;
};

static bool hold (const struct identity *identities, size_t count, char why[SIM_WHY_MAX])
{
    for (size_t i = 0; i < count; i++) {
        const struct identity *one = &identities[i];
        if (one->is == one->should)
            continue;
        snprintf (why, SIM_WHY_MAX, "%s: %" PRIu64 ", not %" PRIu64, one->text, one->is,
                  one->should);
        return false;
    }
    return true;
}

static bool is_answered (const struct sim_result *r, uint64_t wanted, char why[SIM_WHY_MAX])
{
    const struct identity identities[] = {
        {"calls measured", r->calls, wanted},
        {"calls answered", r->outcomes[TIED_OUTCOME_OK], r->calls},
        {"latencies", r->latency->total, r->requests},
        {"calls that found no room at their client", r->table_overflows, 0},
    };
    return hold (identities, sizeof identities / sizeof *identities, why);
}

/* One STARTED for each execution of a tied copy, one fate for each STARTED, and two that were in
 * vain for each call that ran twice. */
static bool is_tied (const struct sim_result *r, bool refuses, char why[SIM_WHY_MAX])
{
    uint64_t fates = r->cancels.effective + r->cancels.early + r->cancels.late + r->cancels.moot +
                     r->cancels.lost;
    const struct identity identities[] = {
        {"executions", r->executions, r->calls + r->duplicates},
        {"fates of cancels", fates, r->cancels.sent},
        {"cancels too late or lost", r->cancels.late + r->cancels.lost, 2 * r->duplicates},
        {"cancels sent", r->cancels.sent, r->executions},
    };
    size_t count = sizeof identities / sizeof *identities;
    /* A copy whose sibling was refused knows that it is alone, and tells nobody. */
    return hold (identities, refuses ? count - 1 : count, why);
}

static bool is_once (const struct sim_result *r, char why[SIM_WHY_MAX])
{
    const struct identity identities[] = {
        {"executions", r->executions, r->calls},
        {"calls that ran twice", r->duplicates, 0},
        {"copies refused", r->rejections, 0},
    };
    return hold (identities, sizeof identities / sizeof *identities, why);
}

bool sim_measure_identities (const struct sim_row *row,
                             const struct sim_result *result,
                             char why[SIM_WHY_MAX])
{
    bool should_grow = row->identities == SIM_IDENTITIES_UNSTABLE;
    if (result->is_unstable != should_grow) {
        snprintf (
            why, SIM_WHY_MAX, "the backlog %s: %" PRIu64 " calls at first, %" PRIu64 " at last",
            should_grow ? "does not grow" : "grows", result->backlog_first, result->backlog_last);
        return false;
    }
    if (row->identities >= SIM_IDENTITIES_STABLE)
        return true;
    if (!is_answered (result, row->scenario.amount.calls, why))
        return false;
    switch (row->identities) {
    case SIM_IDENTITIES_ONCE:
        return is_once (result, why);
    case SIM_IDENTITIES_TIED:
        return is_tied (result, false, why);
    case SIM_IDENTITIES_REFUSING:
        return is_tied (result, true, why);
    case SIM_IDENTITIES_ANSWERED:
    case SIM_IDENTITIES_STABLE:
    case SIM_IDENTITIES_UNSTABLE:
        break;
    }
    return true;
}
