/* SPDX-License-Identifier: MIT */
/*
 * The call at a percentile of one run, and everything that happened to it: the run is done once to
 * find it and again to watch it. How it is drawn is output/diagram.h.
 */
#ifndef SIM_EXPLAIN_H
#define SIM_EXPLAIN_H

#include "study/study.h"

#define SIM_EXPLAIN_NOTES_MAX  256
#define SIM_EXPLAIN_COPIES_MAX 8

/* Times of one copy since the call's submit; TIED_NEVER: that did not happen. */
struct sim_explain_copy {
    bool is_sent;
    int replica;
    tied_duration_t sent, arrived, started, left, finished, answered; /* left: without a run */
    uint32_t depth; /* of the queue when it had joined it */
    const char *why_left;
};

struct sim_explanation {
    uint64_t request, requests; /* its number; how many were answered */
    uint64_t call;              /* with a fan-out: the call that the request waited for */
    tied_duration_t latency_ns;
    tied_duration_t hedge_ns;                     /* that the policy used; TIED_NEVER: none */
    struct sim_note notes[SIM_EXPLAIN_NOTES_MAX]; /* `at` since the submit */
    uint32_t notes_count;
    uint64_t notes_lost;
    uint32_t winner; /* copy; UINT32_MAX: none of those below */
    struct sim_explain_copy copies[SIM_EXPLAIN_COPIES_MAX];
};

/* @return 0, TIED_ERR_INVAL (a policy without messages, or no request was answered),
 * TIED_ERR_SYSTEM
 */
TIED_NODISCARD int sim_explain (const struct sim_scenario *scenario,
                                uint32_t policy,
                                uint32_t ppm,
                                struct sim_explanation *out,
                                char why[SIM_WHY_MAX]);
/* Where the time of the winner went; they sum to latency_ns. false: no copy answered. */
struct sim_explain_parts {
    tied_duration_t before_ns;  /* until its copy was sent */
    tied_duration_t network_ns; /* both ways */
    tied_duration_t waited_ns, served_ns;
    tied_duration_t after_ns; /* until the call ended */
};
bool sim_explain_parts (const struct sim_explanation *self, struct sim_explain_parts *out);

#endif
