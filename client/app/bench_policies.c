/* SPDX-License-Identifier: MIT */
/* The policy file of a run: read at its start and whenever SIGHUP asks for it, while calls go on.
 */
#include <signal.h>
#include <stdio.h>

#include "bench.h"
#include "tools/json.h"

static volatile sig_atomic_t is_asked;

static void on_hangup (int number)
{
    (void)number;
    is_asked = 1;
}

void bench_catch_reloads (const struct bench *self)
{
    struct sigaction action = {.sa_handler = on_hangup, .sa_flags = SA_RESTART};

    (void)self;
    (void)sigemptyset (&action.sa_mask);
    (void)sigaction (SIGHUP, &action, NULL);
}

int bench_load_file (const struct bench *self, struct bench_policy *policy)
{
    char why[TIED_POLICIES_ERROR_MAX];

    if (tied_client_load_policies (policy->client, self->app->policy_file, why, sizeof why) == 0)
        return 0;
    return app_fail ("%s", why);
}

void bench_reload (struct bench *self)
{
    if (!is_asked)
        return;
    is_asked = 0;
    for (uint32_t i = 0; i < self->policies_count; i++) {
        struct bench_policy *policy = &self->policies[i];

        if (!policy->policy.is_of_file || !policy->client)
            continue;
        bench_show_end (self);
        if (bench_load_file (self, policy) != 0) {
            self->reload_errors++;
            continue;
        }
        self->reloads++;
        fputs ("tied-client: policies reloaded\n", stderr);
    }
}

struct tied_policy bench_settings (const struct bench *self, const struct bench_policy *policy)
{
    struct tied_policy settings = policy->policy.settings;

    if (policy->client && tied_client_policy (policy->client, self->app->method, &settings) != 0)
        return policy->policy.settings;
    return settings;
}

static void write_settings (struct ti_json *json, const struct tied_policy *settings)
{
    char hedge[TIED_HEDGE_TEXT_MAX];

    if (tied_hedge_rule_print (&settings->hedge, hedge, sizeof hedge) < 0)
        hedge[0] = '\0';
    ti_json_object (json, "settings");
    ti_json_string (json, "mode", tied_mode_name ((int)settings->mode));
    ti_json_bool (json, "idempotent", settings->is_idempotent);
    ti_json_string (json, "hedge", hedge);
    ti_json_real (json, "extra_load", settings->extra_load_ppm / 1e6);
    ti_json_real (json, "canary", settings->canary_ppm / 1e6);
    ti_json_bool (json, "shadow", settings->is_shadow);
    ti_json_bool (json, "off", settings->is_off);
    ti_json_bool (json, "governed", settings->is_governed);
    ti_json_end (json);
}

static void write_policy (const void *context, struct ti_json *json, uint32_t index)
{
    const struct bench *self = context;
    const struct bench_policy *policy = &self->policies[index];
    const struct tied_policy settings = bench_settings (self, policy);

    write_settings (json, &settings);
    bench_method_write (self, json, index);
}

static void write_top (const void *context, struct ti_json *json)
{
    const struct bench *self = context;

    ti_json_bool (json, "interrupted", ti_interrupted ());
    if (!self->app->policy_file)
        return;
    ti_json_string (json, "policy_file", self->app->policy_file);
    ti_json_u64 (json, "policy_reloads", self->reloads);
    ti_json_u64 (json, "policy_reload_errors", self->reload_errors);
}

void bench_report_settings (struct bench *self)
{
    self->report.more =
        (struct ti_report_more){.context = self, .top = write_top, .policy = write_policy};
}
