/* SPDX-License-Identifier: MIT */
/* Every key of a scenario: the one place that knows them. docs/scenario.md is printed from it. */
#include "scenario_form.h"

#include <stddef.h>

#include "base/assert.h"
#include "policy_text.h"
#include "scenario_values.h"

#define HOUR     TIED_S (3600)
#define AT(path) offsetof (struct sim_form, path)
#define W(path)  offsetof (struct sim_form, scenario.workload.path)
#define R(path)  offsetof (struct sim_form, scenario.replicas.path)
#define N(path)  offsetof (struct sim_form, scenario.network.path)
#define A(path)  offsetof (struct sim_form, scenario.amount.path)
#define P(path)  offsetof (struct sim_policy, path)
#define ONLY(n)  (UINT64_C (1) << (n))

TI_STATIC_ASSERT (sizeof (enum sim_arrivals) == 4, "a CHOICE stores 4 bytes");
TI_STATIC_ASSERT (sizeof (enum sim_copies) == 4, "a CHOICE stores 4 bytes");
TI_STATIC_ASSERT (sizeof (enum sim_policy_kind) == 4, "a CHOICE stores 4 bytes");

#define DIST_TEXT "distribution, as in `exp(10ms)`"

static const char *const copies_words[] = {"independent", "identical", "sx", NULL};

/* clang-format off */
static const struct ti_field step_fields[] = {
    {.key = "from", .type = TI_TYPE_DURATION, .offset = offsetof (struct sim_step, from_ns),
     .min = 0, .max = 100 * HOUR, .default_text = "must be given",
     .help = "counted from the first arrivals; later than that of the step before"},
    {.key = "factor", .type = TI_TYPE_REAL, .offset = offsetof (struct sim_step, factor),
     .real_min = 0, .real_max = 1000, .default_text = "must be given",
     .help = "of `load` or `rate`, which counts before the first step; 0: nothing arrives, not in "
             "the last step"},
    {.key = NULL}};
static const struct ti_field step_item = {
    .key = "step", .type = TI_TYPE_TUPLE, .fields = step_fields, .help = "a rate and its begin"};

static const struct ti_field arrivals_fields[] = {
    {.key = "kind", .type = TI_TYPE_CHOICE, .offset = W (arrivals), .choices = sim_arrivals_words,
     .selects = true,
     .help = "`on_off`: Poisson in exponential `on` phases, nothing in `off` phases; `mmpp`: "
             "Poisson at two alternating rates; `steps`: Poisson at rates that change at fixed "
             "times; `trace`: times from a file; `closed`: users who "
             "wait for the answer and think"},
    {.key = "on", .type = TI_TYPE_DURATION, .offset = W (on_ns), .min = 1000, .max = HOUR,
     .only = ONLY (SIM_ARRIVALS_ON_OFF), .is_needed = true, .help = "mean length of a busy phase"},
    {.key = "off", .type = TI_TYPE_DURATION, .offset = W (off_ns), .min = 1000, .max = HOUR,
     .only = ONLY (SIM_ARRIVALS_ON_OFF), .is_needed = true, .help = "mean length of a silent phase"},
    {.key = "factor", .type = TI_TYPE_REAL, .offset = W (burst_factor), .real_min = 1,
     .real_max = 1000, .only = ONLY (SIM_ARRIVALS_MMPP), .is_needed = true,
     .help = "rate of the high phase / rate of the low one"},
    {.key = "burst", .type = TI_TYPE_DURATION, .offset = W (burst_ns), .min = 1000, .max = HOUR,
     .only = ONLY (SIM_ARRIVALS_MMPP), .is_needed = true, .help = "mean length of the high phase"},
    {.key = "calm", .type = TI_TYPE_DURATION, .offset = W (calm_ns), .min = 1000, .max = HOUR,
     .only = ONLY (SIM_ARRIVALS_MMPP), .is_needed = true, .help = "mean length of the low phase"},
    {.key = "steps", .type = TI_TYPE_LIST, .offset = W (steps), .min = 1, .max = SIM_FACTORS_MAX,
     .size = sizeof (struct sim_step), .count_offset = W (steps_count), .fields = &step_item,
     .only = ONLY (SIM_ARRIVALS_STEPS), .is_needed = true, .default_text = "must be given",
     .help = "times and rates, as in `[[20s, 2.4], [30s, 1]]`"},
    {.key = "file", .type = TI_TYPE_CUSTOM, .offset = AT (times), .parse = sim_parse_file,
     .value_text = "file name", .default_text = "must be given",
     .only = ONLY (SIM_ARRIVALS_TRACE), .is_needed = true,
     .help = "times of the requests, relative to the first; stretched to meet `load` or `rate` if "
             "one is given beside it"},
    {.key = "column", .type = TI_TYPE_WORD, .offset = AT (times.column), .size = SIM_NAME_MAX,
     .default_text = "as the format implies", .only = ONLY (SIM_ARRIVALS_TRACE),
     .help = "heading of the column in a CSV file"},
    {.key = "unit", .type = TI_TYPE_DURATION, .offset = AT (times.unit_ns), .min = 1, .max = HOUR,
     .default_text = "as the heading or format says", .only = ONLY (SIM_ARRIVALS_TRACE),
     .help = "one unit of the column"},
    {.key = "users", .type = TI_TYPE_U32, .offset = W (users), .min = 1, .max = 1000000,
     .only = ONLY (SIM_ARRIVALS_CLOSED), .is_needed = true, .help = "how many"},
    {.key = "think", .type = TI_TYPE_CUSTOM, .offset = W (think), .parse = sim_parse_dist,
     .value_text = DIST_TEXT, .default_text = "exp(10ms)", .only = ONLY (SIM_ARRIVALS_CLOSED),
     .help = "time from an answer to the user's next request"},
    {.key = NULL}};

static const struct ti_field fan_out_fields[] = {
    {.key = "calls", .type = TI_TYPE_U32, .offset = W (fan_out), .min = 1, .max = 10000,
     .help = "calls of one request, made at once"},
    {.key = "needed", .type = TI_TYPE_U32, .offset = W (fan_out_needed), .min = 0, .max = 10000,
     .default_text = "all", .help = "the request ends with so many answers; 0: all"},
    {.key = NULL}};

static const struct ti_field service_fields[] = {
    {.key = "dist", .type = TI_TYPE_CUSTOM, .offset = W (service), .parse = sim_parse_dist,
     .value_text = DIST_TEXT, .default_text = "exp(10ms)",
     .help = "what an execution takes at speed 1"},
    {.key = "table", .type = TI_TYPE_CUSTOM, .offset = AT (service), .parse = sim_parse_file,
     .value_text = "file name", .default_text = "none",
     .help = "service times that are drawn from instead of `dist`; a column of end-to-end latency "
             "is refused"},
    {.key = "column", .type = TI_TYPE_WORD, .offset = AT (service.column), .size = SIM_NAME_MAX,
     .default_text = "as the format implies", .help = "heading of the column in a CSV file"},
    {.key = "unit", .type = TI_TYPE_DURATION, .offset = AT (service.unit_ns), .min = 1,
     .max = HOUR, .default_text = "as the heading or format says", .help = "one unit of the column"},
    {.key = "in_order", .type = TI_TYPE_BOOL, .offset = W (service_in_order),
     .help = "call i takes line i of the table, beginning again at its end"},
    {.key = NULL}};

/* factor, share: of struct sim_factor */
static const struct ti_field factor_fields[] = {
    {.key = "factor", .type = TI_TYPE_REAL, .offset = offsetof (struct sim_factor, factor),
     .real_min = 0, .excludes_min = true, .real_max = 1e6, .is_needed = true,
     .default_text = "must be given", .help = "what the value is multiplied by"},
    {.key = "share", .type = TI_TYPE_SHARE, .offset = offsetof (struct sim_factor, share),
     .real_min = 0, .excludes_min = true, .real_max = 1, .is_needed = true,
     .default_text = "must be given", .help = "how often; the shares of a list sum to 1"},
    {.key = NULL}};
static const struct ti_field factor_item = {
    .key = "factor", .type = TI_TYPE_TUPLE, .fields = factor_fields,
    .help = "a factor and its probability"};

static const struct ti_field copies_fields[] = {
    {.key = "kind", .type = TI_TYPE_CHOICE, .offset = W (copies), .choices = copies_words,
     .selects = true,
     .help = "how the copies of one call share their service time: each its own, all the same, or "
             "`sx`: `service` is the size of the call, times a slowdown drawn for each copy"},
    {.key = "slowdown", .type = TI_TYPE_LIST, .offset = W (slowdown), .min = 1,
     .max = SIM_FACTORS_MAX, .size = sizeof (struct sim_factor), .count_offset = W (slowdown_count),
     .fields = &factor_item, .only = ONLY (SIM_COPIES_SX), .is_needed = true,
     .default_text = "must be given", .help = "the slowdowns and how likely they are"},
    {.key = NULL}};

static const struct ti_field jitter_fields[] = {
    {.key = "share", .type = TI_TYPE_SHARE, .offset = W (jitter_share), .real_min = 0,
     .real_max = 1, .is_needed = true, .help = "of the executions that take longer"},
    {.key = "factor", .type = TI_TYPE_REAL, .offset = W (jitter_factor), .real_min = 1,
     .real_max = 1e6, .is_needed = true, .help = "how many times as long they take"},
    {.key = NULL}};

static const struct ti_field keys_fields[] = {
    {.key = "count", .type = TI_TYPE_U32, .offset = W (keys.count), .min = 0, .max = 1000000,
     .help = "so many different ones; 0: none"},
    {.key = "skew", .type = TI_TYPE_REAL, .offset = W (keys.skew), .real_min = 0, .real_max = 10,
     .help = "how much more frequent some are: the k-th comes with a weight of 1 / k^skew; 0: all "
             "alike"},
    {.key = NULL}};

static const struct ti_field speed_item = {
    .key = "speed", .type = TI_TYPE_REAL, .real_min = 0, .excludes_min = true, .real_max = 1e6,
    .help = "a speed"};

static const struct ti_field slow_fields[] = {
    {.key = "count", .type = TI_TYPE_U32, .offset = R (slow_count), .min = 0,
     .max = SIM_REPLICAS_MAX, .is_needed = true, .help = "the first so many replicas are slow"},
    {.key = "factor", .type = TI_TYPE_REAL, .offset = R (slow_factor), .real_min = 1,
     .real_max = 1e6, .is_needed = true, .help = "how many times slower"},
    {.key = "at", .type = TI_TYPE_DURATION, .offset = R (slow_at_ns), .min = 0, .max = 100 * HOUR,
     .help = "from then on, counted from the first arrivals"},
    {.key = "length", .type = TI_TYPE_DURATION, .offset = R (slow_length_ns), .min = 0,
     .max = 100 * HOUR, .help = "so long; 0: to the end. Unless both are 0, `load` is that of "
     "replicas that are not slow"},
    {.key = NULL}};

static const struct ti_field vary_fields[] = {
    {.key = "every", .type = TI_TYPE_DURATION, .offset = R (vary_ns), .min = 1000, .max = HOUR,
     .is_needed = true, .default_text = "must be given",
     .help = "each replica draws a new factor of its speed so often"},
    {.key = "factors", .type = TI_TYPE_LIST, .offset = R (vary), .min = 1,
     .max = SIM_FACTORS_MAX, .size = sizeof (struct sim_factor), .count_offset = R (vary_count),
     .fields = &factor_item, .is_needed = true, .default_text = "must be given",
     .help = "the factors and how likely they are"},
    {.key = NULL}};

static const struct ti_field pause_fields[] = {
    {.key = "gap", .type = TI_TYPE_DURATION, .offset = R (pause.gap_ns), .min = 1000,
     .max = 100 * HOUR, .default_text = "none",
     .help = "mean of the exponential time from the end of a pause to the next"},
    {.key = "length", .type = TI_TYPE_DURATION, .offset = R (pause.length_ns), .min = 1000,
     .max = HOUR, .default_text = "none", .help = "of a pause: all workers of the replica stand still"},
    {.key = "never_overlap", .type = TI_TYPE_BOOL, .offset = R (pauses_never_overlap),
     .help = "at most one replica at a time pauses; with `whole_zones` at most one zone"},
    {.key = "whole_zones", .type = TI_TYPE_BOOL, .offset = R (pauses_whole_zones),
     .help = "the replicas of a zone pause together"},
    {.key = "log", .type = TI_TYPE_CUSTOM, .offset = AT (pauses), .parse = sim_parse_file,
     .value_text = "file name", .default_text = "none",
     .help = "a jHiccup log whose pauses are replayed instead; each replica begins elsewhere in it"},
    {.key = NULL}};

static const struct ti_field crash_fields[] = {
    {.key = "gap", .type = TI_TYPE_DURATION, .offset = R (crash_gap_ns), .min = TIED_MS (1),
     .max = 1000 * HOUR, .is_needed = true, .default_text = "must be given",
     .help = "mean of the exponential time that a replica lives; then all that it holds is lost, "
             "and its connections break at once"},
    {.key = "down", .type = TI_TYPE_DURATION, .offset = R (crash_down_ns), .min = 1000, .max = HOUR,
     .is_needed = true, .default_text = "must be given",
     .help = "until it begins anew, knowing nothing. `load` is that of replicas that live"},
    {.key = "silent", .type = TI_TYPE_BOOL, .offset = R (crashes_silently),
     .help = "its connections break only then, as if its machine had lost power: until then only "
             "missing heartbeats tell"},
    {.key = NULL}};

static const struct ti_field replicas_fields[] = {
    {.key = "count", .type = TI_TYPE_U32, .offset = R (count), .min = 1, .max = SIM_REPLICAS_MAX,
     .help = "how many"},
    {.key = "workers", .type = TI_TYPE_U32, .offset = R (workers), .min = 1, .max = 4096,
     .help = "of each replica: so many copies are served at once"},
    {.key = "subset", .type = TI_TYPE_U32, .offset = R (subset), .min = 0, .max = SIM_REPLICAS_MAX,
     .help = "replicas form groups of this size, and a client knows one group; 0: all know all"},
    {.key = "speeds", .type = TI_TYPE_LIST, .offset = R (speeds), .min = 0,
     .max = SIM_FACTORS_MAX, .size = sizeof (double), .count_offset = R (speeds_count),
     .fields = &speed_item, .default_text = "all 1",
     .help = "of replica 0, 1, ..., beginning again at the end of the list"},
    {.key = "slow", .type = TI_TYPE_MAP, .fields = slow_fields, .help = "replicas that are slow"},
    {.key = "vary", .type = TI_TYPE_MAP, .fields = vary_fields,
     .help = "speed that changes with time"},
    {.key = "pause", .type = TI_TYPE_MAP, .fields = pause_fields, .help = "times when nothing runs"},
    {.key = "crash", .type = TI_TYPE_MAP, .fields = crash_fields, .help = "replicas that die"},
    {.key = "zones", .type = TI_TYPE_U32, .offset = R (zones), .min = 0, .max = SIM_REPLICAS_MAX,
     .help = "replica i is in zone i mod zones, and clients rather send the copies of a call to "
             "two; 0: there are none"},
    {.key = "queue_depth", .type = TI_TYPE_U32, .offset = R (queue_depth), .min = 1,
     .max = 1u << 20, .help = "copies that wait in a replica at most; more are refused"},
    {.key = NULL}};

static const struct ti_field breaks_fields[] = {
    {.key = "gap", .type = TI_TYPE_DURATION, .offset = N (break_gap_ns), .min = TIED_MS (1),
     .max = 1000 * HOUR, .is_needed = true, .default_text = "must be given",
     .help = "mean time between breaks of one client's connection to one replica"},
    {.key = "down", .type = TI_TYPE_DURATION, .offset = N (break_down_ns), .min = 1000,
     .max = HOUR, .is_needed = true, .default_text = "must be given",
     .help = "until it is connected again; what was under way is lost"},
    {.key = NULL}};

static const struct ti_field network_fields[] = {
    {.key = "delay", .type = TI_TYPE_DURATION, .offset = N (client.fixed_ns), .min = 0,
     .max = TIED_S (10), .help = "of a message between client and replica, one way, at least"},
    {.key = "peer_delay", .type = TI_TYPE_DURATION, .offset = N (peer.fixed_ns), .min = 0,
     .max = TIED_S (10), .default_text = "as `delay`", .help = "the same between replicas"},
    {.key = "extra", .type = TI_TYPE_CUSTOM, .offset = N (client), .parse = sim_parse_extra,
     .value_text = DIST_TEXT, .default_text = "none",
     .help = "what comes on top of `delay`, drawn for each message"},
    {.key = "peer_extra", .type = TI_TYPE_CUSTOM, .offset = N (peer), .parse = sim_parse_extra,
     .value_text = DIST_TEXT, .default_text = "as `extra`", .help = "the same between replicas"},
    {.key = "loss", .type = TI_TYPE_SHARE, .offset = N (loss), .real_min = 0, .real_max = 1,
     .excludes_max = true, .help = "of all messages that vanish"},
    {.key = "loss_started", .type = TI_TYPE_SHARE, .offset = N (loss_started), .real_min = 0,
     .real_max = 1, .excludes_max = true,
     .help = "of the messages between replicas that say that a copy has started, on top"},
    {.key = "breaks", .type = TI_TYPE_MAP, .fields = breaks_fields, .help = "of connections"},
    {.key = "high_water", .type = TI_TYPE_U32, .offset = N (high_water), .min = 0, .max = 1000000,
     .help = "messages under way in one direction of a connection; 0: any number"},
    {.key = NULL}};

#define CORES (ONLY (SIM_POLICY_SINGLE) | ONLY (SIM_POLICY_TIED) | ONLY (SIM_POLICY_HEDGE) | \
               ONLY (SIM_POLICY_TIED_HEDGE) | ONLY (SIM_POLICY_CLONE) | ONLY (SIM_POLICY_PARK) | \
               ONLY (SIM_POLICY_EXCLUSIVE))
#define TIES (ONLY (SIM_POLICY_TIED) | ONLY (SIM_POLICY_TIED_HEDGE) | ONLY (SIM_POLICY_PARK) | \
              ONLY (SIM_POLICY_EXCLUSIVE))
#define HEDGES (ONLY (SIM_POLICY_HEDGE) | ONLY (SIM_POLICY_TIED_HEDGE))

static const struct ti_field policy_fields[] = {
    {.key = "kind", .type = TI_TYPE_CUSTOM, .offset = P (kind), .choices = sim_policy_words,
     .selects = true, .is_needed = true, .parse = sim_parse_policy_kind,
     .value_text = "policy in one word, see above", .default_text = "must be given",
     .help = "what the other keys change"},
    {.key = "name", .type = TI_TYPE_WORD, .offset = P (name), .size = SIM_NAME_MAX,
     .default_text = "the text of `kind`", .help = "in reports; each name once"},
    {.key = "pick", .type = TI_TYPE_CHOICE, .offset = P (pick), .choices = ti_pick_words,
     .only = CORES, .default_text = "`informed` when tied, else `random`",
     .help = "how replicas are chosen; `affinity`: by the call's key, see `keys`"},
    {.key = "samples", .type = TI_TYPE_U32, .offset = P (pick_samples), .min = 2, .max = 64,
     .only = CORES, .default_text = "the library's",
     .help = "replicas looked at for an informed choice; 2 is the power of two choices"},
    {.key = "load_age", .type = TI_TYPE_DURATION, .offset = P (load_age_ns), .min = TIED_MS (1),
     .max = HOUR, .only = CORES, .default_text = "the library's",
     .help = "a load report counts as the mean of all after this"},
    {.key = "probation", .type = TI_TYPE_CUSTOM, .offset = P (probation_milli),
     .parse = sim_parse_probation, .value_text = "0, or a factor [1.5, 1000]", .default_text = "0",
     .only = CORES,
     .help = "a replica that takes so many times the median of all, or fails, is spared and gets "
             "probes; 0: off"},
    {.key = "ignore_zones", .type = TI_TYPE_BOOL, .offset = P (ignores_zones), .only = CORES,
     .help = "clients are not told of `replicas.zones`"},
    {.key = "park_max", .type = TI_TYPE_U32, .offset = P (park_max), .min = 1, .max = 1u << 20,
     .only = ONLY (SIM_POLICY_PARK), .default_text = "the library's",
     .help = "copies that a replica sets aside at most; more are dropped"},
    {.key = "park_lease", .type = TI_TYPE_DURATION, .offset = P (park_lease_ns), .min = TIED_MS (1),
     .max = HOUR, .only = ONLY (SIM_POLICY_PARK), .default_text = "the library's",
     .help = "a parked copy runs when its sibling has not ended after this"},
    {.key = "stagger", .type = TI_TYPE_DURATION, .offset = P (stagger_ns), .min = 0, .max = HOUR,
     .word = "auto", .only = TIES, .help = "delay of the second copy"},
    {.key = "hedge_depth", .type = TI_TYPE_U32, .offset = P (hedge_depth), .min = 0,
     .max = 1u << 20, .only = CORES & ~ONLY (SIM_POLICY_SINGLE), .default_text = "the library's",
     .help = "a replica refuses further copies of a call when so many copies wait"},
    {.key = "hedge", .type = TI_TYPE_CUSTOM, .offset = P (settings), .parse = sim_parse_hedge,
     .value_text = "percentile or duration [0s, 1h]", .default_text = "p95", .only = HEDGES,
     .help = "delay of the further copy; a percentile is that of `single` in the same scenario"},
    {.key = "extra_load", .type = TI_TYPE_CUSTOM, .offset = P (settings.extra_load_ppm),
     .parse = sim_parse_ppm, .value_text = "percentage [0%, 100%]",
     .default_text = "5% if the rule learns, else 100%", .only = CORES & ~ONLY (SIM_POLICY_SINGLE),
     .help = "copies beyond the first, of calls: the budget"},
    {.key = "governed", .type = TI_TYPE_BOOL, .offset = P (settings.is_governed),
     .default_text = "`true` if the rule learns", .only = CORES & ~ONLY (SIM_POLICY_SINGLE),
     .help = "further copies stop by themselves when they do harm or do not pay"},
    {.key = "depth_limit", .type = TI_TYPE_CUSTOM, .offset = P (settings.governor.depth_milli),
     .parse = sim_parse_milli, .value_text = "number [0, 1e6], up to three decimals",
     .default_text = "0", .only = CORES & ~ONLY (SIM_POLICY_SINGLE),
     .help = "the governor stops further copies when replicas hold so many on average; 0: that is "
             "no reason"},
    {.key = "canary", .type = TI_TYPE_CUSTOM, .offset = P (settings.canary_ppm),
     .parse = sim_parse_ppm, .value_text = "percentage [0%, 100%]", .default_text = "100%",
     .only = CORES & ~ONLY (SIM_POLICY_SINGLE), .help = "share of the calls that may have them"},
    {.key = "shadow", .type = TI_TYPE_BOOL, .offset = P (settings.is_shadow),
     .only = CORES & ~ONLY (SIM_POLICY_SINGLE), .help = "decide and count, send nothing further"},
    {.key = "target", .type = TI_TYPE_CUSTOM, .offset = P (settings.target_ppm),
     .parse = sim_parse_target, .value_text = "percentile from `p50` on",
     .default_text = "p99.9", .only = HEDGES, .help = "what `auto` makes small"},
    {.key = "min_samples", .type = TI_TYPE_U32, .offset = P (settings.min_samples), .min = 1,
     .max = 1u << 20, .only = HEDGES, .help = "calls that a rule which learns waits for"},
    {.key = "initial", .type = TI_TYPE_DURATION, .offset = P (settings.hedge_initial_ns), .min = 0,
     .max = HOUR, .only = HEDGES, .help = "delay until there are so many, within floor and 10s"},
    {.key = "floor", .type = TI_TYPE_DURATION, .offset = P (settings.hedge_floor_ns), .min = 0,
     .max = TIED_MS (100), .default_text = "500us if the rule learns, else 0s", .only = HEDGES,
     .help = "no hedge earlier"},
    {.key = "keep_losers", .type = TI_TYPE_BOOL, .offset = P (keeps_losers),
     .only = CORES & ~ONLY (SIM_POLICY_SINGLE),
     .help = "no cancel when another copy has answered"},
    {.key = "d", .type = TI_TYPE_U32, .offset = P (d), .min = 1, .max = TI_POLICY_D_MAX,
     .only = ONLY (SIM_POLICY_JSQ) | ONLY (SIM_POLICY_IDEAL_COS) | ONLY (SIM_POLICY_IDEAL_COC),
     .help = "queues looked at, or copies"},
    {.key = NULL}};
static const struct ti_field policy_item = {
    .key = "policy", .type = TI_TYPE_MAP, .fields = policy_fields, .short_key = "kind",
    .help = "a policy"};

static const struct ti_field published_fields[] = {
    {.key = "policy", .type = TI_TYPE_WORD, .offset = offsetof (struct sim_published, policy),
     .size = SIM_NAME_MAX, .is_needed = true, .default_text = "must be given",
     .help = "name of one of the policies"},
    {.key = "percentile", .type = TI_TYPE_CUSTOM, .offset = offsetof (struct sim_published, ppm),
     .parse = sim_parse_percentile, .value_text = "`mean`, `p50`, `p90`, `p95`, `p99` or `p99.9`",
     .default_text = "p99", .help = "of the latency"},
    {.key = "value", .type = TI_TYPE_CUSTOM, .offset = offsetof (struct sim_published, ms),
     .parse = sim_parse_ms, .value_text = "duration", .default_text = "must be given",
     .is_needed = true, .help = "the figure"},
    {.key = "within", .type = TI_TYPE_SHARE, .offset = offsetof (struct sim_published, tolerance),
     .real_min = 0, .real_max = 10,
     .help = "a difference up to this is agreement; 0: shown only"},
    {.key = NULL}};
static const struct ti_field published_item = {
    .key = "figure", .type = TI_TYPE_MAP, .fields = published_fields,
    .help = "a published figure"};

static const struct ti_field amount_fields[] = {
    {.key = "calls", .type = TI_TYPE_U64, .offset = A (calls), .min = 1, .max = 1000000000,
     .help = "requests measured in each replication"},
    {.key = "warm_up", .type = TI_TYPE_SHARE, .offset = A (warm_up), .real_min = 0, .real_max = 10,
     .help = "share of `calls` that run before, not measured"},
    {.key = "cool_down", .type = TI_TYPE_SHARE, .offset = A (cool_down), .real_min = 0,
     .real_max = 10, .help = "share of `calls` that run after, not measured"},
    {.key = "replications", .type = TI_TYPE_U32, .offset = A (replications), .min = 1, .max = 1000,
     .help = "independent runs; with `precision` at most so many"},
    {.key = "precision", .type = TI_TYPE_SHARE, .offset = A (precision), .real_min = 0,
     .real_max = 1, .excludes_max = true,
     .help = "stop when the half-width of the interval of p99 is below this share of p99 for all "
             "policies; 0: run all replications"},
    {.key = "budget", .type = TI_TYPE_DURATION, .offset = A (budget_ns), .min = 0,
     .max = 1000 * HOUR, .help = "of real time; 0s: none"},
    {.key = "seed", .type = TI_TYPE_U64, .offset = A (seed), .min = 0, .max = UINT64_MAX,
     .help = "the same seed gives the same numbers"},
    {.key = NULL}};

static const struct ti_field load_item = {
    .key = "load", .type = TI_TYPE_REAL, .real_min = 0, .excludes_min = true, .real_max = 1.5,
    .help = "a load"};
static const struct ti_field sweep_fields[] = {
    {.key = "loads", .type = TI_TYPE_LIST, .offset = AT (scenario.sweep.loads), .min = 0,
     .max = SIM_SWEEP_MAX, .size = sizeof (double),
     .count_offset = AT (scenario.sweep.loads_count), .fields = &load_item,
     .help = "values of `load`, run one after the other"},
    {.key = NULL}};

static const struct ti_field fields[] = {
    {.key = "extends", .type = TI_TYPE_CUSTOM, .parse = sim_parse_extends,
     .value_text = "preset or file name", .default_text = "none",
     .help = "the scenario whose values hold where this one says nothing"},
    {.key = "name", .type = TI_TYPE_WORD, .offset = AT (scenario.name), .size = SIM_NAME_MAX,
     .default_text = "that of the file", .help = "in reports"},
    {.key = "title", .type = TI_TYPE_LINE, .offset = AT (scenario.title), .help = "one line"},
    {.key = "arrivals", .type = TI_TYPE_MAP, .fields = arrivals_fields, .short_key = "kind",
     .help = "when requests come"},
    {.key = "load", .type = TI_TYPE_REAL, .offset = W (load), .real_min = 0, .excludes_min = true,
     .real_max = 1.5, .help = "work offered / what all workers can do, duplicates not counted"},
    {.key = "rate", .type = TI_TYPE_RATE, .offset = W (rate_per_s), .real_min = 0,
     .excludes_min = true, .real_max = 1e9, .default_text = "from `load`",
     .help = "requests per second of all clients together, instead of `load`"},
    {.key = "fan_out", .type = TI_TYPE_MAP, .fields = fan_out_fields, .short_key = "calls",
     .help = "calls of one request"},
    {.key = "deadline", .type = TI_TYPE_DURATION, .offset = W (deadline_ns), .min = 1000,
     .max = HOUR, .word = "none", .help = "of every call"},
    {.key = "service", .type = TI_TYPE_MAP, .fields = service_fields, .short_key = "dist",
     .help = "what an execution takes"},
    {.key = "copies", .type = TI_TYPE_MAP, .fields = copies_fields, .short_key = "kind",
     .help = "what the copies of one call have in common"},
    {.key = "correlation", .type = TI_TYPE_SHARE, .offset = W (correlation), .real_min = 0,
     .real_max = 1, .help = "share of the copies that take the service time drawn for the call "
                            "instead of their own; with `copies: independent`"},
    {.key = "cold", .type = TI_TYPE_REAL, .offset = W (cold_factor), .real_min = 0,
     .excludes_min = true, .real_max = 1e6,
     .help = "the service time of every copy but the first is multiplied by this"},
    {.key = "keys", .type = TI_TYPE_MAP, .fields = keys_fields, .short_key = "count",
     .help = "what calls are about, for `pick: affinity`"},
    {.key = "jitter", .type = TI_TYPE_MAP, .fields = jitter_fields,
     .help = "executions that take longer by chance"},
    {.key = "replicas", .type = TI_TYPE_MAP, .fields = replicas_fields, .short_key = "count",
     .help = "who serves"},
    {.key = "clients", .type = TI_TYPE_U32, .offset = AT (scenario.clients), .min = 1,
     .max = SIM_CLIENTS_MAX, .help = "that share the requests; each knows only what it is told"},
    {.key = "heartbeat", .type = TI_TYPE_DURATION, .offset = AT (scenario.heartbeat_ns),
     .min = TIED_MS (1), .max = HOUR, .help = "between the PINGs of a client to a replica"},
    {.key = "network", .type = TI_TYPE_MAP, .fields = network_fields, .help = "what messages meet"},
    {.key = "policies", .type = TI_TYPE_LIST, .offset = AT (scenario.policies), .min = 1,
     .max = SIM_POLICIES_MAX, .size = sizeof (struct sim_policy),
     .count_offset = AT (scenario.policies_count), .fields = &policy_item,
     .init = sim_policy_item_init, .is_needed = true, .default_text = "must be given",
     .help = "what is compared; differences are to the first"},
    {.key = "published", .type = TI_TYPE_LIST, .offset = AT (scenario.published), .min = 0,
     .max = SIM_PUBLISHED_MAX, .size = sizeof (struct sim_published),
     .count_offset = AT (scenario.published_count), .fields = &published_item,
     .init = sim_published_init, .help = "figures to show beside ours"},
    {.key = "amount", .type = TI_TYPE_MAP, .fields = amount_fields, .help = "how much is run"},
    {.key = "sweep", .type = TI_TYPE_MAP, .fields = sweep_fields, .short_key = "loads",
     .help = "values to run through"},
    {.key = "shuffle_ties", .type = TI_TYPE_BOOL, .offset = AT (scenario.shuffles_ties),
     .help = "events of the same time come in an order drawn from the seed"},
    {.key = NULL}};
/* clang-format on */

const struct ti_schema sim_scenario_schema = {.noun = "a scenario", .fields = fields};
