/* SPDX-License-Identifier: MIT */
/*
 * tied-client advise: measures or reads a recording, asks advice.h, and says it: a few lines for a
 * person, the same as JSON, and the policy file to begin with.
 */
#include <stdio.h>
#include <string.h>

#include "advice_recording.h"
#include "bench.h"
#include "text/units.h"
#include "tools/json.h"
#include "tools/policy_text.h"
#include "tools/save.h"

struct said {
    const struct app *app;
    const struct advice_samples *samples;
    struct advice advice;
};

int app_parse_share (void *value, const char *text, char *why)
{
    const int error = ti_share_parse (text, value);

    if (error == 0)
        return 0;
    return ti_cli_refuse (why, "it %s; give a share such as 5%%, up to 100%%",
                          ti_units_text (error));
}

static const char *ms (uint64_t ns, char buffer[TI_UNITS_TEXT_MAX])
{
    return ns == TIED_NEVER ? "more" : ti_format_ms (ns, buffer);
}

/* What a person needs to know when the answer is no. */
static void print_reason (const struct said *said)
{
    const struct advice *advice = &said->advice;
    const uint64_t all = said->samples->count + said->samples->dropped + said->samples->failed;

    printf ("answer    do not send second copies: ");
    switch (advice->reason) {
    case ADVICE_FEW_SAMPLES:
        printf ("too few samples, %u answered calls; p99 needs %u, p99.9 %u\n",
                said->samples->count, ADVICE_P99_SAMPLES, ADVICE_P99_9_SAMPLES);
        return;
    case ADVICE_FAILING:
        printf ("%llu of %llu calls were not answered; more load mends nothing\n",
                (unsigned long long)said->samples->failed, (unsigned long long)all);
        return;
    case ADVICE_NOT_IDEMPOTENT:
        printf ("%s must not run twice; otherwise, %s would pay\n", said->app->method,
                advice_verdict_name (advice->would));
        return;
    case ADVICE_NOT_DECLARED:
        printf ("it is not known whether %s may run twice; if it may (--declared yes), %s pays\n",
                said->app->method, advice_verdict_name (advice->would));
        return;
    case ADVICE_NO_BENEFIT:
    case ADVICE_NONE:
        printf ("no benefit, nothing gains 5 %% at p%.4g\n", advice->target_ppm / 1e4);
        return;
    }
}

static void print_gain (const char *name, const struct advice_gain *gain)
{
    char without[TI_UNITS_TEXT_MAX], with[TI_UNITS_TEXT_MAX];

    if (gain->ppm)
        printf ("  %s %s -> %s ms", name, ms (gain->without_ns, without), ms (gain->with_ns, with));
}

static void print_text (const struct said *said)
{
    const struct advice *advice = &said->advice;
    char delay[TI_UNITS_TEXT_MAX], benefit[TI_UNITS_TEXT_MAX];

    printf ("calls     %u of %s answered with one copy, %llu not answered\n", said->samples->count,
            said->app->method, (unsigned long long)said->samples->failed);
    if (advice->verdict == ADVICE_NEITHER)
        print_reason (said);
    else
        printf ("answer    %s%s\n", advice_verdict_name (advice->verdict),
                advice->policy.mode == TIED_MODE_EXCLUSIVE ? ", in mode exclusive" : "");
    if (!advice->p99.ppm)
        return;
    printf ("expected");
    print_gain ("p50", &advice->p50);
    print_gain ("p99", &advice->p99);
    print_gain ("p99.9", &advice->p99_9);
    printf ("\ncost      %.2f %% more executions\n", advice->extra_ppm / 1e4);
    if (advice->delay_ns != TIED_NEVER)
        printf ("hedge     after %s ms; saves %s ms on average where it is sent\n",
                ms (advice->delay_ns, delay), ms (advice->benefit_ns, benefit));
    printf ("waiting   %.0f %% of the time of the slowest 1 %% of calls\n",
            advice->waiting_ppm / 1e4);
}

/* A YAML text in double quotes; a method has no control characters. */
static void print_key (const char *method)
{
    putchar ('"');
    for (; *method; method++) {
        if (*method == '"' || *method == '\\')
            putchar ('\\');
        putchar (*method);
    }
    putchar ('"');
}

static void print_policy (const struct said *said)
{
    const struct tied_policy *policy = &said->advice.policy;
    char hedge[TIED_HEDGE_TEXT_MAX];

    printf ("\nmethods:\n  ");
    print_key (said->app->method);
    printf (":\n    mode: %s\n", tied_mode_name ((int)policy->mode));
    if (policy->is_idempotent)
        puts ("    idempotent: true");
    if (policy->hedge.kind != TIED_HEDGE_RULE_NEVER &&
        tied_hedge_rule_print (&policy->hedge, hedge, sizeof hedge) > 0)
        printf ("    hedge: %s\n    target: p%.10g\n", hedge, policy->target_ppm / 1e4);
    printf ("    extra_load: %.10g%%\n", policy->extra_load_ppm / 1e4);
}

static void write_ms (struct ti_json *json, const char *name, uint64_t ns)
{
    if (ns == TIED_NEVER)
        ti_json_null (json, name);
    else
        ti_json_ms (json, name, ns);
}

static void write_gain (struct ti_json *json, const char *name, const struct advice_gain *gain)
{
    if (!gain->ppm) {
        ti_json_null (json, name);
        return;
    }
    ti_json_object (json, name);
    write_ms (json, "without_ms", gain->without_ns);
    write_ms (json, "with_ms", gain->with_ns);
    ti_json_end (json);
}

static int write_json (const void *context, FILE *file)
{
    const struct said *said = context;
    const struct advice *advice = &said->advice;
    const struct tied_policy *policy = &advice->policy;
    char hedge[TIED_HEDGE_TEXT_MAX];
    struct ti_json json;

    if (tied_hedge_rule_print (&policy->hedge, hedge, sizeof hedge) < 0)
        hedge[0] = '\0';
    ti_json_init (&json, file, 2);
    ti_json_object (&json, NULL);
    ti_json_string (&json, "program", "tied-client advise");
    ti_json_string (&json, "method", said->app->method);
    ti_json_u64 (&json, "samples", said->samples->count);
    ti_json_u64 (&json, "failed", said->samples->failed);
    ti_json_string (&json, "answer", advice_verdict_name (advice->verdict));
    ti_json_string (&json, "reason", advice_reason_name (advice->reason));
    ti_json_string (&json, "would", advice_verdict_name (advice->would));
    write_gain (&json, "p50", &advice->p50);
    write_gain (&json, "p99", &advice->p99);
    write_gain (&json, "p99_9", &advice->p99_9);
    ti_json_real (&json, "extra_load", advice->extra_ppm / 1e6);
    write_ms (&json, "hedge_ms", advice->delay_ns);
    write_ms (&json, "saves_ms", advice->benefit_ns);
    ti_json_real (&json, "waiting", advice->waiting_ppm / 1e6);
    ti_json_object (&json, "policy");
    ti_json_string (&json, "mode", tied_mode_name ((int)policy->mode));
    ti_json_bool (&json, "idempotent", policy->is_idempotent);
    ti_json_string (&json, "hedge", hedge);
    ti_json_real (&json, "target", policy->target_ppm / 1e6);
    ti_json_real (&json, "extra_load", policy->extra_load_ppm / 1e6);
    ti_json_end (&json);
    ti_json_end (&json);
    return ti_json_finish (&json);
}

static int say (struct said *said)
{
    const struct advice_question question = {.samples = said->samples,
                                             .extra_load_ppm = said->app->extra_load_ppm,
                                             .declared = (enum advice_declared)said->app->declared};

    if (advice_give (&question, &said->advice) != 0)
        return app_fail ("out of memory");
    print_text (said);
    if (said->advice.verdict != ADVICE_NEITHER)
        print_policy (said);
    if (fflush (stdout) != 0 || ferror (stdout))
        return app_fail_write (NULL);
    if (said->app->json && ti_save (said->app->json, write_json, said) != 0)
        return app_fail_write (said->app->json);
    return TI_EXIT_OK;
}

/* One call at a time, unless a load is given: the method is in use. */
static int measure (struct app *app, struct advice_samples *out)
{
    if (app->policies.count > 0)
        return ti_cli_error (app->cli, "--policy: says whose calls of a recording are looked at; "
                                       "without --recording calls have one copy");
    if (!app->has_rate && !app->has_outstanding) {
        app->has_outstanding = true;
        app->outstanding = 1;
    }
    app->slices = 1;
    return bench_measure (app, out);
}

int app_advise (struct app *app)
{
    struct advice_samples samples = {.items = NULL};
    struct said said = {.app = app, .samples = &samples};
    char why[TI_CLI_WHY_MAX] = "";
    int rc = TI_EXIT_OK;

    if (!app->recording)
        rc = measure (app, &samples);
    else if (advice_read_recording (app->recording,
                                    app->policies.count ? app->policies.items[0] : NULL, &samples,
                                    why) != 0)
        rc = app_fail ("%s", why);
    if (rc == TI_EXIT_OK)
        rc = say (&said);
    advice_samples_deinit (&samples);
    return rc;
}
