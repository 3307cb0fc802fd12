/* SPDX-License-Identifier: MIT */
/* The scenario that a command runs: read, then changed as the options say. */
#include <stdarg.h>
#include <string.h>

#include "app.h"
#include "base/util.h"
#include "scenario/policy_text.h"
#include "tools/fail.h"
#include "tools/save.h"

/* With a precision and without a number, as many replications as this may be needed. */
#define REPLICATIONS_FOR_PRECISION 200

int app_fail (const char *format, ...)
{
    va_list args;
    va_start (args, format);
    ti_fail_args (stderr, "tied-sim", format, args);
    va_end (args);
    return TI_EXIT_FAILED;
}

int app_fail_write (const char *path)
{
    return ti_fail_write (stderr, "tied-sim", path);
}

static void set_amount (const struct app *app, struct sim_amount *amount)
{
    if (app->has_seed)
        amount->seed = app->seed;
    if (app->has_calls)
        amount->calls = app->calls;
    if (app->has_precision) {
        amount->precision = app->precision;
        amount->replications = (uint32_t)ti_max (amount->replications, REPLICATIONS_FOR_PRECISION);
    }
    if (app->has_replications)
        amount->replications = app->replications;
    if (app->has_budget)
        amount->budget_ns = app->budget_ns;
}

/* The scenario's policy of this name, else one written in a word. */
static int find_policy (const struct app *app,
                        const struct sim_scenario *scenario,
                        const char *text,
                        struct sim_policy *out)
{
    char why[SIM_POLICY_WHY_MAX];
    for (uint32_t i = 0; i < scenario->policies_count; i++)
        if (strcmp (scenario->policies[i].name, text) == 0) {
            *out = scenario->policies[i];
            return 0;
        }
    if (sim_policy_parse (text, out, why) == 0)
        return 0;
    return ti_cli_error (app->cli, "--policy: %s", why);
}

static int set_policies (const struct app *app, struct sim_scenario *scenario)
{
    struct sim_policy chosen[SIM_POLICIES_MAX];
    uint32_t count = app->policies.count;
    for (uint32_t i = 0; i < count; i++) {
        int rc = find_policy (app, scenario, app->policies.items[i], &chosen[i]);
        if (rc)
            return rc;
        for (uint32_t other = 0; other < i; other++)
            if (strcmp (chosen[i].name, chosen[other].name) == 0)
                return ti_cli_error (app->cli, "--policy %s is given twice", chosen[i].name);
    }
    if (count > 0) {
        memcpy (scenario->policies, chosen, count * sizeof *chosen);
        scenario->policies_count = count;
    }
    return 0;
}

static int check_file (const char *path)
{
    return !path || ti_save_check (path) == 0 ? 0 : app_fail_write (path);
}

int app_check_files (const struct app *app)
{
    if (check_file (app->json) || check_file (app->csv) || check_file (app->report))
        return TI_EXIT_FAILED;
    return TI_EXIT_OK;
}

int app_load (const struct app *app, const char *name, struct sim_scenario *out)
{
    char why[SIM_WHY_MAX];
    if (app_check_files (app))
        return TI_EXIT_FAILED;
    if (sim_scenario_load (name, out, why))
        return app_fail ("%s", why);
    set_amount (app, &out->amount);
    int rc = set_policies (app, out);
    if (rc)
        sim_scenario_deinit (out);
    return rc;
}
