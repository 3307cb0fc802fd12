/* SPDX-License-Identifier: MIT */
/*
 * What tying or hedging would have done to a recorded load: the scenario of a recording, the worth
 * of a hedge at each of several delays, and one sentence of advice.
 */
#ifndef SIM_REPLAY_H
#define SIM_REPLAY_H

#include "study/conditional.h"
#include "study/study.h"
#include "workload/recording.h"

/* Hedges after p50, p90, p95 and p99 of single; they follow single and tied in the scenario. */
#define SIM_REPLAY_HEDGES      4
#define SIM_REPLAY_FIRST_HEDGE 2

struct sim_replay_options {
    uint32_t replicas;  /* 0: as many as the recording names */
    uint32_t workers;   /* each */
    double load;        /* 0: as recorded */
    double correlation; /* share of further copies that take as long as the first */
    uint32_t replications;
    uint64_t seed;
};

/* Takes the recording's times and service times over. @return 0 (deinit *out), TIED_ERR_INVAL,
 * TIED_ERR_SYSTEM */
TIED_NODISCARD int sim_replay_scenario (struct sim_recording *recording,
                                        const struct sim_replay_options *options,
                                        struct sim_scenario *out,
                                        char why[SIM_WHY_MAX]);

struct sim_replay_hedge {
    tied_duration_t delay_ns;
    struct sim_conditional found;
    double extra_executions; /* per call, above single */
    double extra_busy;       /* time of workers, relative to single */
};

#define SIM_ADVICE_MAX 512
struct sim_replay {
    const struct sim_recording *recording;
    uint32_t workers;       /* of each replica */
    bool workers_are_given; /* else it is a guess */
    bool has_hedges;        /* false: single was unstable, so that there is no delay to take */
    struct sim_replay_hedge hedges[SIM_REPLAY_HEDGES];
    char advice[SIM_ADVICE_MAX];
};

/* Fills hedges and advice; the study is of the scenario. @return 0 (deinit *out), TIED_ERR_SYSTEM:
 * no memory */
TIED_NODISCARD int sim_replay_run (const struct sim_scenario *scenario,
                                   const struct sim_study *study,
                                   struct sim_replay *out,
                                   char why[SIM_WHY_MAX]);
void sim_replay_deinit (struct sim_replay *self);

/* replay_advice.c: one sentence into self->advice. */
void sim_replay_advise (const struct sim_study *study, struct sim_replay *self);

#endif
