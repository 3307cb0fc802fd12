/* SPDX-License-Identifier: MIT */
/* tied-client bench: sets the policies up, gives them their turns, and reports. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/util.h"
#include "zmq/clock.h"

/* Replicas are at rest when two looks this far apart see no difference. */
#define REST_STEP TIED_MS (10)
/* Longer than this nobody waits for rest: services of seconds go on in the background. */
#define REST_MAX TIED_S (3)
/* A replica that was killed is not waited for longer. */
#define STATS_TIMEOUT TIED_MS (500)
/* More calls at once than this are held back; they are then late, and count as such. */
#define CALLS_LIMIT (1u << 18)

/* Counters that move while a replica works. */
static const char *const work_counters[] = {"received", "executed", "finished", "started_received",
                                            "cancel_received"};
#define WORK_COUNTERS (sizeof work_counters / sizeof *work_counters)

static void on_idle (void *arg)
{
    bench_idle (arg);
}

static bool is_rested (const struct bench *self,
                       const struct replica_stats *now,
                       const struct replica_stats *past)
{
    for (uint32_t i = 0; i < self->app->replicas.count; i++) {
        for (size_t n = 0; n < WORK_COUNTERS; n++) {
            if (replica_stats_get (&now[i], work_counters[n]) !=
                replica_stats_get (&past[i], work_counters[n]))
                return false;
        }
        if (replica_stats_get (&now[i], "executed") != replica_stats_get (&now[i], "finished"))
            return false;
    }
    return true;
}

static void rest (struct bench *self)
{
    tied_time_t until = ti_clock_now () + REST_STEP;

    for (tied_time_t now = 0; (now = ti_clock_now ()) < until;) {
        bench_idle (self);
        (void)!tied_client_poll (self->policies[0].client, ti_min (until - now, TIED_MS (1)));
    }
}

void bench_read_rested (struct bench *self, struct replica_stats *out)
{
    size_t size = self->app->replicas.count * sizeof *out;
    struct replica_stats *past = replica_stats_new (self->app->replicas.count);
    tied_time_t give_up = ti_clock_now () + REST_MAX;

    replica_stats_read (self->app, out, self->is_absent, STATS_TIMEOUT, on_idle, self);
    while (past) {
        memcpy (past, out, size);
        rest (self);
        replica_stats_read (self->app, out, self->is_absent, STATS_TIMEOUT, on_idle, self);
        if (is_rested (self, out, past) || ti_clock_now () > give_up)
            break;
    }
    free (past);
}

/* Growth of one counter over all replicas. One that was restarted counts from its restart. */
static uint64_t growth (const struct bench *self, const char *name)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < self->app->replicas.count; i++) {
        uint64_t before = replica_stats_get (&self->before[i], name);
        uint64_t after = replica_stats_get (&self->after[i], name);

        if (self->after[i].is_known)
            sum += after >= before ? after - before : after;
    }
    return sum;
}

/* Of the calls with a hedge, which tells nobody that it starts: what ran above one run an answer.
 */
static uint64_t runs_above_answers (const struct ti_report_policy *result)
{
    const uint64_t answers =
        result->outcomes[TIED_OUTCOME_OK] + result->outcomes[TIED_OUTCOME_APP_ERROR];

    return ti_time_sub (result->executions, answers);
}

void bench_attribute (struct bench *self, struct bench_policy *policy)
{
    struct ti_report_policy *result = policy->result;

    for (uint32_t i = 0; i < self->app->replicas.count; i++)
        self->report.looks_missed += !self->after[i].is_known;
    result->executions += growth (self, "executed");
    /* Each side of a duplicate pair sees the other's STARTED too late; one may get lost. */
    result->duplicates += (growth (self, "started_late") + 1) / 2;
    if (bench_settings (self, policy).hedge.kind != TIED_HEDGE_RULE_NEVER)
        result->duplicates = runs_above_answers (result);
    /* STARTED only: what a client cancels is another matter, and most of it is too late to help. */
    result->cancels.sent += growth (self, "started_sent");
    result->cancels.effective += growth (self, "started_effective");
    result->cancels.early += growth (self, "started_early");
    result->cancels.late += growth (self, "started_late");
    policy->service_ns += growth (self, "service_ns");
}

/* Until the wall clock is at a multiple of --align. */
static void align (struct bench *self)
{
    struct timespec wall;
    uint64_t period = self->app->align_ns, past = 0;

    if (period == 0 || clock_gettime (CLOCK_REALTIME, &wall) != 0)
        return;
    past = (TIED_S ((uint64_t)wall.tv_sec) + (uint64_t)wall.tv_nsec) % period;
    for (tied_time_t until = ti_clock_now () + period - past, now = 0;
         !ti_interrupted () && (now = ti_clock_now ()) < until;) {
        bench_idle (self);
        (void)!tied_client_poll (self->policies[0].client, ti_min (until - now, TIED_MS (1)));
    }
}

static int take_turn (struct bench *self, struct bench_policy *policy, uint32_t slice)
{
    uint64_t seed = ti_mix (self->app->seed ^ ti_mix (slice + 1));
    int rc;

    bench_read_rested (self, self->before);
    bench_method_before (self, policy);
    align (self);
    rc = bench_slice (self, policy, seed, self->app->duration_ns / self->app->slices, true);
    if (rc != 0)
        return rc;
    bench_method_after (self, policy);
    bench_read_rested (self, self->after);
    bench_attribute (self, policy);
    bench_show (self, policy, ti_clock_now ());
    return 0;
}

/* The first policy of each round is another one, so that no policy always follows the same. */
static int run (struct bench *self)
{
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && !ti_interrupted () && i < self->policies_count; i++)
        rc = bench_slice (self, &self->policies[i], ti_mix (self->app->seed), self->app->warmup_ns,
                          false);
    for (uint32_t slice = 0; slice < self->app->slices; slice++) {
        for (uint32_t i = 0; rc == 0 && !ti_interrupted () && i < self->policies_count; i++)
            rc = take_turn (self, &self->policies[(slice + i) % self->policies_count], slice);
    }
    bench_show_end (self);
    return rc;
}

static int make_client (struct bench *self, struct bench_policy *policy)
{
    struct tied_client_options options;
    struct tied_policy settings = policy->policy.settings;

    app_options (self->app, &options);
    options.core.calls_max = self->calls_max;
    options.core.pick = policy->policy.pick;
    if (policy->policy.is_of_file)
        app_options_for_file (&options);
    /* The choices repeat, too. */
    options.core.seed = ti_mix (self->app->seed + 1 + policy->policy.pick);
    policy->client = app_connect (self->app, &options, 0, self->app->replicas.count);
    if (!policy->client)
        return TI_EXIT_FAILED;
    if (settings.stagger_ns == TIED_STAGGER_AUTO)
        settings.stagger_ns = self->app->stagger_ns;
    if (policy->policy.is_of_file && bench_load_file (self, policy) != 0)
        return TI_EXIT_FAILED;
    if (!policy->policy.is_of_file && tied_client_set_policy (policy->client, "*", &settings) != 0)
        return app_fail ("policy %s: the client refuses its settings", policy->policy.name);
    return app_await_replicas (self->app, policy->client, self->app->timeout_ns);
}

static int add_policy (struct bench *self, const char *text)
{
    struct bench_policy *added = &self->policies[self->policies_count];
    char why[TI_CLI_WHY_MAX];

    if (policy_parse (text, &added->policy, why) != 0)
        return ti_cli_error (self->app->cli, "--policy: %s", why);
    if (added->policy.is_of_file && !self->app->policy_file)
        return ti_cli_error (self->app->cli, "--policy %s: needs --policies FILE", text);
    if (self->app->record && strchr (text, ','))
        return ti_cli_error (self->app->cli,
                             "--policy %s: has a comma, which parts the columns of --record; give "
                             "a rule of one term, or no --record",
                             text);
    self->policies_count++;
    return 0;
}

static int read_policies (struct bench *self)
{
    const struct ti_strings *given = &self->app->policies;
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < given->count; i++) {
        rc = add_policy (self, given->items[i]);
        for (uint32_t other = 0; rc == 0 && other < i; other++) {
            if (strcmp (given->items[i], given->items[other]) == 0)
                rc = ti_cli_error (self->app->cli, "--policy %s is given twice", given->items[i]);
        }
    }
    if (rc == 0 && given->count == 0)
        rc = add_policy (self, "single");
    if (rc == 0 && given->count == 0)
        rc = add_policy (self, self->app->policy_file ? POLICY_OF_FILE : "tied");
    return rc;
}

static int check_line (const struct app *app)
{
    if (app->has_rate && app->has_outstanding)
        return ti_cli_error (app->cli, "--rate and --outstanding exclude each other");
    if (!app->has_rate && !app->has_outstanding)
        return ti_cli_error (app->cli, "bench needs --rate or --outstanding");
    if (app->duration_ns / app->slices == 0)
        return ti_cli_error (app->cli, "--slices: more slices than nanoseconds in --duration");
    return app_check_method (app, "--method", app->method);
}

/* As many calls as can be under way if none is answered before its deadline. */
static uint32_t calls_needed (const struct app *app)
{
    double calls = app->outstanding;

    if (app->has_rate)
        calls = 2 * app->rate * (double)app->timeout_ns / 1e9 + 1024;
    return calls > CALLS_LIMIT ? CALLS_LIMIT : (uint32_t)calls;
}

static int set_up (struct bench *self)
{
    int rc = 0;

    self->calls_max = calls_needed (self->app);
    self->before = replica_stats_new (self->app->replicas.count);
    self->after = replica_stats_new (self->app->replicas.count);
    self->body = calloc (1, (size_t)self->app->body_size + 1);
    self->calls = calloc (self->calls_max, sizeof *self->calls);
    self->calls_free = calloc (self->calls_max, sizeof *self->calls_free);
    if (!self->before || !self->after || !self->body || !self->calls || !self->calls_free)
        return app_fail ("out of memory");
    for (uint32_t i = 0; i < self->calls_max; i++)
        self->calls_free[self->calls_free_count++] = self->calls_max - 1 - i;
    self->total_ns = self->policies_count * (self->app->duration_ns + self->app->warmup_ns);
    for (uint32_t i = 0; rc == 0 && i < self->policies_count; i++) {
        struct bench_policy *policy = &self->policies[i];

        policy->result = ti_report_add (&self->report, policy->policy.name);
        if (!policy->result)
            return app_fail ("out of memory");
        rc = make_client (self, policy);
    }
    return rc;
}

static int start_recording (struct bench *self)
{
    const char *path = self->app->record;

    if (!path || ti_recording_open (&self->recording, path,
                                    "t_us,policy,call,replica,copies,queue_us,service_us,"
                                    "latency_us,outcome") == 0)
        return TI_EXIT_OK;
    return app_fail_write (path);
}

static int finish_recording (struct bench *self)
{
    if (ti_recording_close (&self->recording) == 0)
        return TI_EXIT_OK;
    return app_fail_write (self->app->record);
}

static void tear_down (struct bench *self)
{
    for (uint32_t i = 0; i < APP_POLICIES_MAX; i++)
        if (self->policies[i].client)
            tied_client_destroy (&self->policies[i].client);
    ti_report_deinit (&self->report);
    free (self->before);
    free (self->after);
    free (self->body);
    free (self->calls);
    free (self->calls_free);
}

/* What would be sent is decided, and nothing extra is. */
static void add_shadow (struct bench *self)
{
    struct policy *policy = &self->policies[self->policies_count++].policy;

    *policy = (struct policy){.name = "single/informed", .pick = TIED_PICK_INFORMED};
    tied_policy_init (&policy->settings);
    policy->settings.is_idempotent = true;
    policy->settings.is_shadow = true;
    policy->settings.hedge.kind = TIED_HEDGE_RULE_AUTO;
}

static int bench_run (const struct app *app, struct advice_samples *samples)
{
    static struct bench bench;
    int rc;

    memset (&bench, 0, sizeof bench);
    bench.app = app;
    bench.samples = samples;
    ti_report_init (&bench.report);
    bench.report.program = "tied-client bench";
    bench_report_settings (&bench);
    bench.report.command = app->command;
    bench.report.arrivals = app->has_rate ? "poisson" : "closed";
    bench.report.rate = app->has_rate ? app->rate : 0;
    bench.report.outstanding = app->outstanding;
    bench.report.replicas = app->replicas.count;
    bench.report.duration_ns = app->duration_ns;
    bench.report.seed = app->seed;
    bench.report.started_unix_s = (uint64_t)time (NULL);
    rc = check_line (app);
    if (rc == 0 && samples)
        add_shadow (&bench);
    else if (rc == 0)
        rc = read_policies (&bench);
    if (rc != 0)
        return rc;
    if (app->policy_file)
        bench_catch_reloads (&bench);
    /* The kernel may end a sleep 50 us late by default, which arrivals would show. */
    (void)prctl (PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    /* Now and not after a long measurement. */
    rc = app_check_output (app->json);
    if (rc == 0)
        rc = app_check_output (app->report);
    if (rc == 0)
        rc = start_recording (&bench);
    if (rc == 0)
        rc = set_up (&bench);
    /* Of a policy file SIGHUP asks for something else. */
    ti_interrupt_catch (!app->policy_file);
    if (rc == 0)
        rc = run (&bench);
    if (rc == 0 && !samples)
        rc = bench_report (&bench);
    if (rc == 0)
        rc = bench_check_answers (&bench);
    /* What was measured is written even if the rest failed. */
    if (finish_recording (&bench) != 0)
        rc = TI_EXIT_FAILED;
    tear_down (&bench);
    return rc;
}

int app_bench (struct app *app)
{
    return bench_run (app, NULL);
}

int bench_measure (const struct app *app, struct advice_samples *out)
{
    return bench_run (app, out);
}
