/* SPDX-License-Identifier: MIT */
/*
 * What is simulated, as one plain value: load, copies, replicas, network, policies, and how much of
 * it is run. It is read from YAML (scenario_read.h) or filled by a program; nothing here runs.
 *
 * Durations are integers of nanoseconds. Strings and tables are owned by the scenario.
 */
#ifndef SIM_SCENARIO_H
#define SIM_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>

#include <tied/client_core.h>
#include <tied/types.h>

#include "tools/dist.h"

#define SIM_POLICIES_MAX  16
#define SIM_NAME_MAX      48
#define SIM_VARIANT_MAX   192 /* name of a policy with the values of all axes of a grid */
#define SIM_REPLICAS_MAX  16384
#define SIM_CLIENTS_MAX   4096
#define SIM_FACTORS_MAX   32
#define SIM_PUBLISHED_MAX 32
#define SIM_SWEEP_MAX     32

enum sim_arrivals {
    SIM_ARRIVALS_POISSON = 0,
    SIM_ARRIVALS_DETERMINISTIC,
    SIM_ARRIVALS_ON_OFF, /* Poisson in exponential on phases, nothing in off phases */
    SIM_ARRIVALS_MMPP,   /* Poisson whose rate alternates between two, exponential stays */
    SIM_ARRIVALS_TRACE,  /* times from a table */
    SIM_ARRIVALS_CLOSED, /* users who think between calls */
    SIM_ARRIVALS_STEPS   /* Poisson whose rate changes at fixed times */
};

/* How the copies of one call share their service time. */
enum sim_copies {
    SIM_COPIES_INDEPENDENT = 0, /* each copy draws its own */
    SIM_COPIES_IDENTICAL,       /* all copies take the same */
    SIM_COPIES_SX               /* size of the call x slowdown drawn for each copy */
};

/* A factor and its probability. */
struct sim_factor {
    double factor; /* > 0 */
    double share;  /* of the draws; the shares of a list sum to 1 */
};

/* From a time on, counted from the first arrivals: the rate is so many times the scenario's. */
struct sim_step {
    tied_duration_t from_ns;
    double factor;
};

/* A table of numbers from a file. */
struct sim_table {
    uint64_t *values; /* ns */
    uint64_t count;
};

/* What calls are about; the most frequent key is 0. */
struct sim_keys {
    uint32_t count; /* 0: calls have none */
    double skew;    /* key k comes with a weight of 1 / (k + 1)^skew; 0: all alike */
};

struct sim_workload {
    enum sim_arrivals arrivals;
    double load;           /* work offered / capacity of all workers; 0: rate_per_s counts */
    double rate_per_s;     /* requests per second, all clients together; 0: from load */
    tied_duration_t on_ns; /* ON_OFF: mean length of the phases */
    tied_duration_t off_ns;
    double burst_factor;      /* MMPP: rate of the high phase / rate of the low one, >= 1 */
    tied_duration_t burst_ns; /* MMPP: mean stay in the high phase */
    tied_duration_t calm_ns;  /* MMPP: mean stay in the low phase */
    struct sim_step steps[SIM_FACTORS_MAX]; /* STEPS: upward in time; 1 before the first, > 0 in the
                                               last */
    uint32_t steps_count;
    uint32_t users;              /* CLOSED */
    struct ti_dist think;        /* CLOSED */
    struct sim_table times;      /* TRACE: since the start, not falling */
    uint32_t fan_out;            /* calls of one request; 1: a request is a call */
    uint32_t fan_out_needed;     /* the request ends with so many answers; 0: all */
    tied_duration_t deadline_ns; /* of every call, TIED_NEVER: none */

    struct ti_dist service;         /* of a copy, or of the call's size (SX), at speed 1 */
    struct sim_table service_table; /* count > 0: drawn from it instead, value by value */
    bool service_in_order;          /* the table is a trace: call i takes entry i mod count;
                                       INDEPENDENT: its copy 0 does, others draw from the table */
    enum sim_copies copies;
    double correlation; /* INDEPENDENT: share of the copies that take the call's common
                           draw instead of their own, [0, 1] */
    struct sim_factor slowdown[SIM_FACTORS_MAX]; /* SX */
    uint32_t slowdown_count;
    double cold_factor; /* service of copies > 0 is multiplied by this; 1: no effect */
    struct sim_keys keys;
    double jitter_share; /* share of the executions that take jitter_factor times longer */
    double jitter_factor;
};

struct sim_replicas {
    uint32_t count;
    uint32_t workers;               /* each */
    uint32_t subset;                /* replicas are split in groups of this size, and a client knows
                                       one group; 0: all know all */
    double speeds[SIM_FACTORS_MAX]; /* of replica i: speeds[i mod speeds_count] */
    uint32_t speeds_count;          /* 0: all 1 */
    uint32_t slow_count;            /* the first so many replicas are slow_factor times slower */
    double slow_factor;
    tied_duration_t slow_at_ns; /* counted from the first arrivals; with both 0 they always are */
    tied_duration_t slow_length_ns; /* 0: to the end */
    /* Speed that changes with time: every vary_ns each replica draws a factor from `vary`. */
    tied_duration_t vary_ns; /* 0: does not */
    struct sim_factor vary[SIM_FACTORS_MAX];
    uint32_t vary_count;
    /* Pauses: all workers of a replica stand still. */
    struct ti_pause pause;      /* gap_ns 0: none */
    bool pauses_never_overlap;  /* at most one replica at a time pauses */
    struct sim_table pause_log; /* start, length, start, length...: read from a log, replica i
                                   starts at another place in it */
    uint32_t queue_depth;       /* hard limit */
    uint32_t zones;             /* replica i is in zone i mod zones; 0: there are none */
    bool pauses_whole_zones;    /* replicas of a zone pause together */
    tied_duration_t
        crash_gap_ns;      /* mean time from the begin of a replica's life to its end: what it
                              holds is lost, its connections break; 0: it lives for ever */
    bool crashes_silently; /* connections do not break until it begins anew */
    tied_duration_t crash_down_ns; /* until it begins anew, knowing nothing */
};

/* One way, for each message. */
struct sim_delay {
    tied_duration_t fixed_ns; /* every message takes at least this */
    struct ti_dist extra;     /* and this on top */
    bool has_extra;
};

struct sim_network {
    struct sim_delay client;       /* between client and replica */
    struct sim_delay peer;         /* between replicas */
    double loss;                   /* share of all messages that vanish, [0, 1) */
    double loss_started;           /* of STARTED, on top */
    tied_duration_t break_gap_ns;  /* mean time between breaks of one client's connection to one
                                      replica; 0: none */
    tied_duration_t break_down_ns; /* until it is connected again */
    uint32_t high_water;           /* messages under way in one direction of a connection; 0: any */
};

/* Through the cores: the modes of the library, and what else clients can do. Then references, which
 * have no protocol, see sim/reference. A row: kind, name, what may follow it (tools/policy_text.h).
 */
#define SIM_POLICY_MODES(X)                                                                        \
    X (SINGLE, "single", MODE)                                                                     \
    X (TIED, "tied", MODE)                                                                         \
    X (PARK, "park", MODE)                                                                         \
    X (EXCLUSIVE, "exclusive", MODE)
#define SIM_POLICY_MORE(X)                                                                         \
    X (HEDGE, "hedge", DELAY)         /* single, a further copy by a rule */                       \
    X (TIED_HEDGE, "tied-hedge", TIE) /* tied, a further copy by a rule */                         \
    X (CLONE, "clone", COPIES)        /* two copies at once that know nothing of each other */     \
    X (CENTRAL, "central", NOTHING)   /* one queue, dispatch takes no time: the floor */           \
    X (JSQ, "jsq", D)                 /* join the shortest of d queues, perfect information */     \
    X (LAEDGE, "laedge", NOTHING) /* coordinator: two copies if two idle, else one, or queue */    \
    X (NETCLONE, "netclone", NOTHING) /* two copies if both sampled replicas idle, no cancel */    \
    X (PREQUAL, "prequal", NOTHING)   /* probes, hot and cold */                                   \
    X (PREQUAL_RIF, "prequal-rif", NOTHING) /* probes, fewest requests in flight */                \
    X (C3, "c3", NOTHING)                   /* ranking by reported queue and rates */              \
    X (IDEAL_COS, "ideal-cos", D)           /* d copies, cancel on start at once, no delays */     \
    X (IDEAL_COC, "ideal-coc", D)           /* d copies, cancel on completion at once, no delays */

#define SIM_POLICY_ENUM_(name, text, takes) SIM_POLICY_##name,
enum sim_policy_kind {
    SIM_POLICY_MODES (SIM_POLICY_ENUM_) SIM_POLICY_MORE (SIM_POLICY_ENUM_) SIM_POLICY_KINDS
};
#undef SIM_POLICY_ENUM_

struct sim_policy {
    char name[SIM_VARIANT_MAX]; /* less than SIM_NAME_MAX of it are the scenario's */
    enum sim_policy_kind kind;
    uint32_t pick;                 /* enum tied_pick; AFFINITY: by the key of the call */
    uint32_t pick_samples;         /* k of an informed choice; 0: the core's default */
    tied_duration_t load_age_ns;   /* 0: the core's default */
    uint32_t probation_milli;      /* of the clients' cores; 0: off */
    bool ignores_zones;            /* clients do not know where replicas are */
    uint32_t park_max;             /* PARK: of each replica; 0: the core's default */
    tied_duration_t park_lease_ns; /* PARK; 0: the core's default */
    tied_duration_t stagger_ns;    /* TIED_STAGGER_AUTO or fixed */
    uint32_t hedge_depth;        /* 0: the core's default. IDEAL_*: further copies are refused where
                                    so many wait or run; 0: nowhere */
    struct tied_policy settings; /* what the clients' cores are told; not its mode, stagger and
                                    declaration, which calls bring along. HEDGE, TIED_HEDGE: the
                                    rule, used if hedge_ppm is 0 */
    uint32_t hedge_ppm;          /* percentile of `single` on the same scenario, found by a run
                                    before; 950000 is p95 */
    bool keeps_losers;           /* no cancel on completion */
    uint32_t d;                  /* copies or samples of the references: JSQ, IDEAL_*; default 2 */
};

/* Its rule becomes this fixed delay, at its word; what it may cost stays. */
void sim_policy_hedge_after (struct sim_policy *self, tied_duration_t delay);
/* The delay of a rule that is fixed; TIED_NEVER: there is no hedge, or it learns. */
tied_duration_t sim_policy_fixed_delay (const struct sim_policy *self);

/* A figure from a paper to print beside ours. */
struct sim_published {
    char policy[SIM_NAME_MAX];
    uint32_t ppm; /* of the percentile; 0: mean */
    double ms;
    double tolerance; /* 0.1: within 10 % is agreement; 0: shown only */
};

struct sim_amount {
    uint64_t calls;            /* measured requests of each replication */
    double warm_up, cool_down; /* shares of `calls` that are run before and after, not measured */
    uint32_t replications;     /* [1, 1000]; at most, when `precision` is set */
    double precision;          /* stop when the half-width of p99's interval is below this share of
                                  p99 for all policies; 0: run all replications */
    tied_duration_t budget_ns; /* of real time; 0: none */
    uint64_t seed;
};

/* Values to run through, one after the other; count 0: none. */
struct sim_sweep {
    double loads[SIM_SWEEP_MAX];
    uint32_t loads_count;
};

struct sim_scenario {
    char name[SIM_NAME_MAX];
    char *title;  /* one line */
    char *source; /* the text it was read from, NUL-terminated; NULL: none */
    struct sim_workload workload;
    struct sim_replicas replicas;
    uint32_t clients;
    tied_duration_t heartbeat_ns; /* of the clients */
    struct sim_network network;
    struct sim_policy policies[SIM_POLICIES_MAX];
    uint32_t policies_count;
    struct sim_published published[SIM_PUBLISHED_MAX];
    uint32_t published_count;
    struct sim_amount amount;
    struct sim_sweep sweep;
    bool shuffles_ties; /* events of the same time in an order drawn from the seed */
};

/* Defaults: docs/scenario.md lists them. 10 replicas of 1 worker, 1 client, exp(10ms) at load 0.7,
 * 50 us one way, policies none. */
void sim_scenario_init (struct sim_scenario *self);
void sim_scenario_deinit (struct sim_scenario *self);

/* Mean service time of an execution at speed 1, ns, jitter and slowdown included. */
double sim_scenario_mean_service_ns (const struct sim_scenario *self);
/* Work that all replicas can do: mean speed x workers, summed. */
double sim_scenario_capacity (const struct sim_scenario *self);
/* Requests per second that are offered: rate_per_s, or from load. The times of a trace are
 * stretched to this; with neither they stay as recorded. 0: closed loop, or nothing is offered. */
double sim_scenario_rate_per_s (const struct sim_scenario *self);
/* Of recorded arrivals: one period is their span and one mean gap; a table without a span repeats
 * each second. As they were recorded, requests per second; 0: there are none. */
double sim_table_period_ns (const struct sim_table *times);
double sim_table_rate_per_s (const struct sim_table *times);
/* As scenarios and reports write them, by the number of the enum; each ends with NULL. */
extern const char *const sim_arrivals_words[];
extern const char *const sim_policy_words[];
bool sim_policy_is_reference (enum sim_policy_kind kind);
/* The first two copies of a call know each other. */
bool sim_policy_is_tie (enum sim_policy_kind kind);
/* "tied", "central"... */
const char *sim_policy_kind_name (enum sim_policy_kind kind);

#endif
