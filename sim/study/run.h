/* SPDX-License-Identifier: MIT */
/* One replication of one policy: the one entrance to both engines (sim/world, sim/reference). */
#ifndef SIM_RUN_H
#define SIM_RUN_H

#include <stdatomic.h>

#include "scenario/scenario.h"
#include "study/result.h"

/* Faults planted on purpose, to show that `verify` sees them. */
enum sim_fault {
    SIM_FAULT_NONE = 0,
    SIM_FAULT_KILL_RUNNING,      /* STARTED ends a running copy */
    SIM_FAULT_IGNORE_TOMBSTONES, /* a STARTED that comes before its copy is forgotten */
    SIM_FAULT_IGNORE_STAGGER     /* copy 1 leaves with copy 0 */
};

/* What happens to one call, for a sequence diagram. */
struct sim_note {
    tied_time_t at;
    uint64_t call;
    int from, to;     /* client c: -1 - c; replica r: r; the same twice: a local event */
    const char *what; /* "REQUEST", "STARTED", "starts", "drops", "ends"... static */
    uint32_t copy;
    uint32_t depth; /* of the replica's queue, local events of replicas */
};

struct sim_watch {
    void *context;
    /* Every measured request, when it ends; may be NULL. */
    void (*ended) (void *context, uint64_t request, tied_time_t came, tied_duration_t latency);
    /* Every copy that a client sends; may be NULL. Its number is 0 for the first one of a call;
     * references do not tell. */
    void (*sent) (void *context, tied_time_t at, uint32_t copy);
    uint64_t call; /* whose notes are wanted; UINT64_MAX: none */
    void (*note) (void *context, const struct sim_note *note);
};

struct sim_run_options {
    const struct sim_scenario *scenario; /* hedge percentiles resolved: hedge_ppm is 0 */
    uint32_t policy;                     /* index */
    uint64_t seed;                       /* of this replication */
    enum sim_fault fault;
    const struct sim_watch *watch; /* NULL: none */
    const atomic_bool *stop;       /* true: the run is to be abandoned soon; NULL: never */
    bool checks;                   /* the cores' own invariants at every step (slow) */
    /* Requests that are drawn at once where groups of replicas run one after the other; 0: enough.
     * No result but memory_bytes depends on it. */
    uint32_t window;
};

/*
 * @param result  initialised; filled
 * @return 0, TIED_ERR_INVAL (the policy cannot run this scenario: why says which and why),
 *         TIED_ERR_SYSTEM (no memory), TIED_ERR_TIMEOUT (stopped: the result means nothing)
 */
#define SIM_WHY_MAX 512
TIED_NODISCARD int
sim_run (const struct sim_run_options *options, struct sim_result *result, char why[SIM_WHY_MAX]);

#endif
