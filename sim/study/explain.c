/* SPDX-License-Identifier: MIT */
#include "study/explain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "study/hedge.h"

#include <tied/error.h>

struct sample {
    tied_duration_t latency;
    uint64_t request;
};

struct collecting {
    struct sample *items;
    uint64_t count, room;
    bool is_full; /* no memory */
};

static void collect (void *context, uint64_t request, tied_time_t came, tied_duration_t latency)
{
    struct collecting *self = context;

    (void)came;

    if (self->count == self->room) {
        const uint64_t room = self->room ? 2 * self->room : 4096;
        struct sample *items = realloc (self->items, room * sizeof *items);

        if (!items) {
            self->is_full = true;
            return;
        }
        self->items = items;
        self->room = room;
    }
    self->items[self->count++] = (struct sample){latency, request};
}

static int compare (const void *left, const void *right)
{
    const struct sample *a = left, *b = right;

    if (a->latency != b->latency)
        return a->latency > b->latency ? 1 : -1;
    return (a->request > b->request) - (a->request < b->request);
}

static void note (void *context, const struct sim_note *note)
{
    struct sim_explanation *self = context;

    if (self->notes_count < SIM_EXPLAIN_NOTES_MAX)
        self->notes[self->notes_count++] = *note;
    else
        self->notes_lost++;
}

static int run (const struct sim_scenario *scenario, const struct sim_watch *watch, char *why)
{
    const struct sim_run_options options = {
        .scenario = scenario, .seed = sim_study_seed (scenario->amount.seed, 0), .watch = watch};
    struct sim_result result;
    int rc;

    if (sim_result_init (&result) != 0) {
        (void)snprintf (why, SIM_WHY_MAX, "out of memory");
        return TIED_ERR_SYSTEM;
    }
    rc = sim_run (&options, &result, why);
    sim_result_deinit (&result);
    return rc;
}

static int find (const struct sim_scenario *scenario,
                 uint32_t ppm,
                 struct sim_explanation *out,
                 char why[SIM_WHY_MAX])
{
    struct collecting found = {NULL, 0, 0, false};
    const struct sim_watch watch = {.context = &found, .ended = collect, .call = UINT64_MAX};
    int rc = run (scenario, &watch, why);

    if (rc == 0 && (found.is_full || found.count == 0)) {
        (void)snprintf (why, SIM_WHY_MAX,
                        found.is_full ? "out of memory" : "no request was answered");
        rc = found.is_full ? TIED_ERR_SYSTEM : TIED_ERR_INVAL;
    }
    if (rc == 0) {
        const uint64_t rank =
            ti_max (1, ((uint64_t)ppm * found.count + TI_HIST_ALL - 1) / TI_HIST_ALL);

        qsort (found.items, found.count, sizeof *found.items, compare);
        out->request = found.items[rank - 1].request;
        out->latency_ns = found.items[rank - 1].latency;
        out->requests = found.count;
    }
    free (found.items);
    return rc;
}

/* Time from submit to end; the notes then count from the submit. */
static tied_duration_t settle_times (struct sim_explanation *self)
{
    const tied_time_t start = self->notes_count ? self->notes[0].at : 0;
    tied_duration_t ended = TIED_NEVER;

    for (uint32_t i = 0; i < self->notes_count; i++) {
        self->notes[i].at -= start;
        if (ended == TIED_NEVER && strcmp (self->notes[i].what, "ends") == 0)
            ended = self->notes[i].at;
    }
    return ended;
}

/* Of a request with several calls, the one whose end was the request's. */
static int
watch_call (const struct sim_scenario *scenario, struct sim_explanation *out, char why[SIM_WHY_MAX])
{
    const uint32_t fan_out = scenario->workload.fan_out;

    for (uint32_t leaf = 0; leaf < fan_out; leaf++) {
        const struct sim_watch watch = {
            .context = out, .call = out->request * fan_out + leaf, .note = note};
        int rc;

        out->notes_count = 0;
        out->notes_lost = 0;
        out->call = watch.call;
        rc = run (scenario, &watch, why);
        if (rc != 0)
            return rc;
        if (settle_times (out) == out->latency_ns)
            break;
    }
    return TIED_OK;
}

static bool is (const struct sim_note *note, const char *what)
{
    return strcmp (note->what, what) == 0;
}

static void read_note (const struct sim_note *note, struct sim_explanation *out)
{
    struct sim_explain_copy *copy = &out->copies[note->copy];

    if (is (note, "ends") && copy->is_sent)
        out->winner = note->copy;
    if (is (note, "REQUEST") && !copy->is_sent) {
        copy->is_sent = true;
        copy->replica = note->to;
        copy->sent = note->at;
    } else if (is (note, "gets REQUEST")) {
        copy->arrived = note->at;
    } else if (is (note, "queues")) {
        copy->depth = note->depth;
    } else if (is (note, "starts")) {
        copy->started = note->at;
    } else if (is (note, "finishes")) {
        copy->finished = note->at;
    } else if (is (note, "gets REPLY")) {
        copy->answered = note->at;
    } else if (copy->left == TIED_NEVER && (is (note, "drops") || is (note, "ignores") ||
                                            is (note, "rejects") || is (note, "expires"))) {
        copy->left = note->at;
        copy->why_left = note->what;
    }
}

static void read_notes (struct sim_explanation *out)
{
    out->winner = UINT32_MAX;
    for (uint32_t i = 0; i < SIM_EXPLAIN_COPIES_MAX; i++)
        out->copies[i] = (struct sim_explain_copy){.sent = TIED_NEVER,
                                                   .arrived = TIED_NEVER,
                                                   .started = TIED_NEVER,
                                                   .left = TIED_NEVER,
                                                   .finished = TIED_NEVER,
                                                   .answered = TIED_NEVER};
    for (uint32_t i = 0; i < out->notes_count; i++)
        if (out->notes[i].copy < SIM_EXPLAIN_COPIES_MAX)
            read_note (&out->notes[i], out);
}

/* The scenario with this policy alone, its hedge delay known. */
static int choose (const struct sim_scenario *scenario,
                   uint32_t policy,
                   struct sim_scenario *chosen,
                   struct sim_explanation *out,
                   char why[SIM_WHY_MAX])
{
    static const struct sim_study_options options = {.jobs = 1};
    struct sim_study *study;
    int rc;

    if (sim_policy_is_reference (scenario->policies[policy].kind)) {
        (void)snprintf (why, SIM_WHY_MAX,
                        "%.100s is a reference without a protocol: there are no messages to show; "
                        "name a policy such as single, tied or hedge",
                        scenario->policies[policy].name);
        return TIED_ERR_INVAL;
    }
    *chosen = *scenario;
    chosen->policies[0] = scenario->policies[policy];
    chosen->policies_count = 1;
    study = calloc (1, sizeof *study);
    if (!study) {
        (void)snprintf (why, SIM_WHY_MAX, "out of memory");
        return TIED_ERR_SYSTEM;
    }
    rc = sim_hedge_resolve (chosen, &options, study, why);
    free (study);
    out->hedge_ns = chosen->policies[0].kind == SIM_POLICY_HEDGE ||
                            chosen->policies[0].kind == SIM_POLICY_TIED_HEDGE
                        ? sim_policy_fixed_delay (&chosen->policies[0])
                        : TIED_NEVER;
    return rc;
}

int sim_explain (const struct sim_scenario *scenario,
                 uint32_t policy,
                 uint32_t ppm,
                 struct sim_explanation *out,
                 char why[SIM_WHY_MAX])
{
    struct sim_scenario *chosen = malloc (sizeof *chosen);
    int rc;

    if (!chosen) {
        (void)snprintf (why, SIM_WHY_MAX, "out of memory");
        return TIED_ERR_SYSTEM;
    }
    memset (out, 0, sizeof *out);
    rc = choose (scenario, policy, chosen, out, why);
    if (rc == 0)
        rc = find (chosen, ppm, out, why);
    if (rc == 0)
        rc = watch_call (chosen, out, why);
    if (rc == 0)
        read_notes (out);
    free (chosen);
    return rc;
}

bool sim_explain_parts (const struct sim_explanation *self, struct sim_explain_parts *out)
{
    const struct sim_explain_copy *copy;

    if (self->winner >= SIM_EXPLAIN_COPIES_MAX)
        return false;
    copy = &self->copies[self->winner];
    if (copy->arrived == TIED_NEVER || copy->started == TIED_NEVER ||
        copy->finished == TIED_NEVER || copy->answered == TIED_NEVER)
        return false;
    *out = (struct sim_explain_parts){.before_ns = copy->sent,
                                      .network_ns = copy->arrived - copy->sent +
                                                    (copy->answered - copy->finished),
                                      .waited_ns = copy->started - copy->arrived,
                                      .served_ns = copy->finished - copy->started,
                                      .after_ns = ti_time_sub (self->latency_ns, copy->answered)};
    return true;
}
