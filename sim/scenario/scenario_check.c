/* SPDX-License-Identifier: MIT */
/* What must hold between the values of a scenario, whichever document gave them. */
#include "scenario_form.h"

#include <math.h>
#include <string.h>

#include "scenario/limits.h"

static int check_shares (const struct sim_factor *factors,
                         uint32_t count,
                         const char *path,
                         struct ti_reader *reader)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += factors[i].share;
    if (count == 0 || fabs (sum - 1) < 1e-6)
        return 0;
    return ti_reader_refuse_key (reader, path, "the shares sum to %.6g instead of 1", sum);
}

static int check_steps (const struct sim_workload *w, struct ti_reader *reader)
{
    for (uint32_t i = 1; i < w->steps_count; i++)
        if (w->steps[i].from_ns <= w->steps[i - 1].from_ns)
            return ti_reader_refuse_key (reader, "arrivals.steps",
                                         "step %u begins no later than the one before", i);
    if (!(w->steps[w->steps_count - 1].factor > 0))
        return ti_reader_refuse_key (reader, "arrivals.steps",
                                     "nothing arrives after the last: give it a factor above 0");
    return 0;
}

static int check_workload (const struct sim_workload *w, struct ti_reader *reader)
{
    if (w->arrivals == SIM_ARRIVALS_STEPS && check_steps (w, reader))
        return TIED_ERR_INVAL;
    if (w->fan_out_needed > w->fan_out)
        return ti_reader_refuse_key (reader, "fan_out.needed", "%u answers of %u calls",
                                     w->fan_out_needed, w->fan_out);
    if (w->correlation > 0 && w->copies != SIM_COPIES_INDEPENDENT)
        return ti_reader_refuse_key (reader, "correlation",
                                     "has no effect unless copies are independent: remove it, or "
                                     "set it to 0");
    if (w->jitter_share > 0 && !(w->jitter_factor > 1))
        return ti_reader_refuse_key (reader, "jitter", "\"factor\" is missing");
    if (w->copies != SIM_COPIES_SX)
        return 0;
    return check_shares (w->slowdown, w->slowdown_count, "copies.slowdown", reader);
}

static int check_replicas (const struct sim_replicas *r, struct ti_reader *reader)
{
    if (r->slow_count > r->count)
        return ti_reader_refuse_key (reader, "replicas.slow.count", "%u of %u replicas",
                                     r->slow_count, r->count);
    if (r->slow_count > 0 && !(r->slow_factor > 1))
        return ti_reader_refuse_key (reader, "replicas.slow", "\"factor\" is missing");
    if ((r->pause.gap_ns == 0) != (r->pause.length_ns == 0))
        return ti_reader_refuse_key (reader, "replicas.pause", "gap and length belong together");
    if (r->pauses_whole_zones && r->zones == 0)
        return ti_reader_refuse_key (reader, "replicas.pause.whole_zones",
                                     "there are no zones: give replicas.zones");
    return check_shares (r->vary, r->vary_count, "replicas.vary.factors", reader);
}

/* What is wrong whoever gave the values, at its place. */
static int check_limits (const struct sim_scenario *s, struct ti_reader *reader)
{
    const struct sim_replicas *r = &s->replicas;
    struct sim_wrong wrong;
    /* A part of a group can be simulated, but hardly anybody means it. */
    if (r->subset && r->subset <= r->count && r->count % r->subset)
        return ti_reader_refuse_key (reader, "replicas.subset",
                                     "%u replicas do not make whole groups of %u", r->count,
                                     r->subset);
    bool is_wrong = sim_scenario_is_wrong (s, &wrong);
    for (uint32_t i = 0; !is_wrong && i < s->policies_count; i++)
        is_wrong = sim_policy_is_wrong (s, i, &wrong);
    return is_wrong ? ti_reader_refuse_key (reader, wrong.path, "%s", wrong.text) : 0;
}

static int check_policies (const struct sim_scenario *s, struct ti_reader *reader)
{
    char path[TI_SCHEMA_PATH_MAX];
    for (uint32_t i = 0; i < s->policies_count; i++) {
        const struct sim_policy *policy = &s->policies[i];
        snprintf (path, sizeof path, "policies[%u]", i);
        for (uint32_t k = 0; k < i; k++)
            if (strcmp (s->policies[k].name, policy->name) == 0)
                return ti_reader_refuse_key (reader, path,
                                             "the name %s is that of policies[%u] already: give "
                                             "another one",
                                             policy->name, k);
    }
    return 0;
}

static int check_published (const struct sim_scenario *s, struct ti_reader *reader)
{
    char path[TI_SCHEMA_PATH_MAX];
    for (uint32_t i = 0; i < s->published_count; i++) {
        uint32_t k = 0;
        while (k < s->policies_count && strcmp (s->policies[k].name, s->published[i].policy) != 0)
            k++;
        if (k < s->policies_count)
            continue;
        snprintf (path, sizeof path, "published[%u].policy", i);
        return ti_reader_refuse_key (reader, path, "no policy has the name %s",
                                     s->published[i].policy);
    }
    return 0;
}

static int check_sweep (const struct sim_sweep *sweep, struct ti_reader *reader)
{
    for (uint32_t i = 0; i < sweep->loads_count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (fabs (sweep->loads[i] - sweep->loads[k]) < 1e-9)
                return ti_reader_refuse_key (
                    reader, "sweep", "load %g is there twice: give each once", sweep->loads[i]);
    return 0;
}

int sim_form_check (const struct sim_form *form, struct ti_reader *reader)
{
    const struct sim_scenario *s = &form->scenario;
    int rc = check_workload (&s->workload, reader);
    if (rc == 0)
        rc = check_replicas (&s->replicas, reader);
    if (rc == 0)
        rc = check_policies (s, reader);
    if (rc == 0)
        rc = check_limits (s, reader);
    if (rc == 0)
        rc = check_published (s, reader);
    if (rc == 0)
        rc = check_sweep (&s->sweep, reader);
    if (rc == 0 && s->sweep.loads_count > 0 && s->workload.arrivals == SIM_ARRIVALS_CLOSED)
        return ti_reader_refuse_key (reader, "sweep",
                                     "a closed loop has no load to run through: remove it");
    return rc;
}
