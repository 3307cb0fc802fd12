/* SPDX-License-Identifier: MIT */
/*
 * What the client knows of the method that is measured: counters of the measured slices alone, and
 * delay, estimates, budget and governor as they are at the end. docs/json.md, "method".
 */
#include "bench.h"

static bool
look (const struct bench *self, const struct bench_policy *policy, struct tied_client_method *out)
{
    *out = (struct tied_client_method){0};
    return tied_client_method (policy->client, self->app->method, out) == 0;
}

void bench_method_before (const struct bench *self, struct bench_policy *policy)
{
    struct tied_client_method now;

    (void)look (self, policy, &now);
#define TAKE_OFF(name) policy->method.counters.name -= now.counters.name;
    TIED_METHOD_COUNTER_MAP (TAKE_OFF)
#undef TAKE_OFF
}

void bench_method_after (const struct bench *self, struct bench_policy *policy)
{
    struct tied_client_method now;

    (void)look (self, policy, &now);
#define ADD(name) now.counters.name += policy->method.counters.name;
    TIED_METHOD_COUNTER_MAP (ADD)
#undef ADD
    policy->method = now;
}

static void write_ms (struct ti_json *json, const char *name, tied_duration_t ns)
{
    if (ns == TIED_NEVER)
        ti_json_null (json, name);
    else
        ti_json_ms (json, name, ns);
}

void bench_method_write (const void *context, struct ti_json *json, uint32_t index)
{
    const struct bench *self = context;
    const struct tied_client_method *method = &self->policies[index].method;

    ti_json_object (json, "method");
#define WRITE(name) ti_json_u64 (json, #name, method->counters.name);
    TIED_METHOD_COUNTER_MAP (WRITE)
#undef WRITE
    write_ms (json, "hedge_ms", method->hedge_ns);
    write_ms (json, "relief_ms", method->relief_ns);
    ti_json_string (json, "hedge_reason", tied_not_sent_name ((int)method->hedge_reason));
    ti_json_real (json, "hedge_share", method->hedge_share_ppm / 1e6);
    ti_json_real (json, "target", method->target_ppm / 1e6);
    write_ms (json, "without_ms", method->without_ns);
    write_ms (json, "predicted_ms", method->predicted_ns);
    write_ms (json, "achieved_ms", method->achieved_ns);
    ti_json_u64 (json, "samples", method->samples);
    ti_json_real (json, "budget", (double)method->budget_milli / 1e3);
    ti_json_string (json, "governor_state", tied_governor_state_name ((int)method->governor_state));
    ti_json_string (json, "governor_reason",
                    tied_governor_reason_name ((int)method->governor_reason));
    ti_json_u64 (json, "governor_stops", method->governor_stops);
    ti_json_end (json);
}
