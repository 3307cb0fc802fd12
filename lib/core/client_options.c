/* SPDX-License-Identifier: MIT */
/* Options of the client core: defaults and ranges, in the order of the header. */
#include <tied/client_core.h>

#define AGE_MAX     TIED_S (3600)
#define STAGGER_MAX TIED_S (10)

void tied_client_core_options_init (struct tied_client_core_options *options)
{
    *options = (struct tied_client_core_options){
        .struct_size = sizeof *options,
        .calls_max = 1024,
        .replicas_max = 64,
        .copies_max = 4,
        .pick = TIED_PICK_INFORMED,
        .pick_samples = 16,
        .load_age_ns = TIED_MS (100),
        .stagger_floor_ns = TIED_US (200),
        .stagger_ceiling_ns = TIED_MS (10),
        .stagger_initial_ns = TIED_MS (1),
        .heartbeat_ns = TIED_MS (200),
        .heartbeat_misses = 3,
        .methods_max = 1,
        .learn_ns = TIED_S (10),
    };
}

static bool is_in (uint64_t value, uint64_t low, uint64_t high)
{
    return value >= low && value <= high;
}

static const char *first_bad_field (const struct tied_client_core_options *o)
{
    if (o->struct_size != sizeof *o)
        return "struct_size";
    if (o->epoch == 0)
        return "epoch";
    if (!is_in (o->calls_max, 1, 1u << 20))
        return "calls_max";
    if (!is_in (o->replicas_max, 1, 4096))
        return "replicas_max";
    if (!is_in (o->copies_max, 1, TIED_COPIES_MAX))
        return "copies_max";
    if (o->pick != TIED_PICK_INFORMED && o->pick != TIED_PICK_RANDOM &&
        o->pick != TIED_PICK_ROUND_ROBIN && o->pick != TIED_PICK_AFFINITY)
        return "pick";
    if (o->probation_milli != 0 && !is_in (o->probation_milli, 1500, 1000000))
        return "probation_milli";
    if (!is_in (o->pick_samples, 2, 64))
        return "pick_samples";
    if (!is_in (o->load_age_ns, TIED_MS (1), AGE_MAX))
        return "load_age_ns";
    if (!is_in (o->stagger_ceiling_ns, 0, STAGGER_MAX))
        return "stagger_ceiling_ns";
    if (!is_in (o->stagger_floor_ns, 0, o->stagger_ceiling_ns))
        return "stagger_floor_ns";
    if (!is_in (o->stagger_initial_ns, o->stagger_floor_ns, o->stagger_ceiling_ns))
        return "stagger_initial_ns";
    if (!is_in (o->min_remaining_ns, 0, AGE_MAX))
        return "min_remaining_ns";
    if (!is_in (o->heartbeat_ns, TIED_MS (1), AGE_MAX))
        return "heartbeat_ns";
    if (!is_in (o->heartbeat_misses, 1, 100))
        return "heartbeat_misses";
    if (!is_in (o->methods_max, 1, 1024))
        return "methods_max";
    if (o->learn_ns != 0 && !is_in (o->learn_ns, TIED_MS (10), AGE_MAX))
        return "learn_ns";
    return NULL;
}

int tied_client_core_options_check (const struct tied_client_core_options *options,
                                    const char **out_field)
{
    const char *bad = options ? first_bad_field (options) : "options";
    if (!bad)
        return 0;
    if (out_field)
        *out_field = bad;
    return TIED_ERR_INVAL;
}
