/* SPDX-License-Identifier: MIT */
/*
 * The engine of the reference policies: calls, their copies, FIFO servers and messages that take
 * the scenario's delay. It knows no policy; a policy is a table of functions (struct
 * sim_ref_policy) that says where a call goes and what an answer teaches.
 *
 * The life of a copy: it TRAVELS to its server, WAITS there, RUNS, and RETURNS as an answer; then
 * it is OVER. It may be over sooner: refused, removed from the queue, or killed. A call is kept
 * until it has ended and all its copies are over.
 */
#ifndef SIM_REF_H
#define SIM_REF_H

#include "base/assert.h"
#include "base/links.h"
#include "base/prng.h"
#include "engine/events.h"
#include "engine/stream.h"
#include "reference/reference.h"
#include "workload/demand.h"
#include "workload/source.h"
#include "workload/speed.h"

#define SIM_REF_NONE UINT32_MAX

enum sim_ref_state {
    SIM_REF_TRAVELS = 0,
    SIM_REF_WAITS,
    SIM_REF_RUNS,
    SIM_REF_RETURNS,
    SIM_REF_OVER
};

struct sim_ref_call {
    uint64_t number;      /* UINT64_MAX: the slot is free */
    tied_time_t at;       /* of its request */
    tied_time_t deadline; /* TIED_NEVER: none */
    uint32_t client;
    uint32_t copies; /* made so far; the next one's number */
    uint32_t first;  /* newest of its copies, SIM_REF_NONE: none */
    uint32_t open;   /* copies that are not over, and holds */
    uint32_t starts;
    uint32_t next;        /* in a policy's queue, or among free slots */
    tied_duration_t rest; /* of its way, from what is between to the server */
    bool is_measured;
    bool has_ended;
    bool is_answered; /* for policies between client and servers: the answer is on its way back */
};

struct sim_ref_copy {
    uint32_t call, server;
    uint32_t next;   /* older copy of the same call, or next free slot */
    uint32_t number; /* 0: the first of its call */
    enum sim_ref_state state;
    bool is_refused;
    bool needs_empty_queue; /* else it is refused */
    uint32_t seen;          /* copies waiting or running at the server when it came */
    uint32_t left_waiting;  /* copies waiting there when it left */
    uint32_t left_running;  /* and running, itself not counted */
    tied_time_t sent, reached, started;
    uint64_t service_ns;  /* once it has run, to its end or until it was killed */
    tied_duration_t rest; /* of the answer's way, from what is between to the client */
    uint64_t run;         /* of the execution: an end of another run is stale */
};

struct sim_ref_server {
    uint32_t waiting, running;
};

/* A number that changes with time, and its integral. */
struct sim_ref_level {
    uint64_t now, area;
    tied_time_t since;
    uint64_t area_first, area_last; /* at the first and latest measured arrival */
};

/* Distinct members of a set of `size`, drawn without replacement. */
struct sim_ref_sample {
    uint32_t *items;
    uint32_t size;
};

enum sim_ref_kind {
    SIM_REF_COPY = 1,     /* a: copy; it reaches its server */
    SIM_REF_FINISH,       /* a: copy, value: run */
    SIM_REF_ANSWER,       /* a: copy; its answer reaches who waits for it */
    SIM_REF_HOP,          /* a: call; it reaches what is between */
    SIM_REF_RESULT,       /* a: call; its answer reaches the client from between */
    SIM_REF_DEADLINE,     /* a: call, value: its number */
    SIM_REF_PROBE,        /* a: client, b: server */
    SIM_REF_PROBE_ANSWER, /* a: client, b: server, value: the policy's */
    /* Told to the trace and to watchers only. */
    SIM_REF_ARRIVES,
    SIM_REF_STARTS,
    SIM_REF_WAITING,
    SIM_REF_REFUSED,
    SIM_REF_DROPPED,
    SIM_REF_KILLED,
    SIM_REF_ENDS
};

struct sim_ref;

/* Every function may be NULL where that is said. */
struct sim_ref_policy {
    /* NULL: no state. @return 0, TIED_ERR_INVAL with why, TIED_ERR_SYSTEM */
    int (*init) (struct sim_ref *ref, char why[SIM_WHY_MAX]);
    void (*deinit) (struct sim_ref *ref); /* NULL: nothing to free */
    /* A client has this call to send; the engine holds it meanwhile. */
    void (*arrive) (struct sim_ref *ref, uint32_t call);
    /* The call has reached what is between client and servers; NULL: nothing is. */
    void (*reach) (struct sim_ref *ref, uint32_t call);
    /* A copy was put on a worker; NULL: nothing to do. */
    void (*start) (struct sim_ref *ref, uint32_t copy);
    /* It has run; the worker is free and has not taken the next. NULL: the answer is sent. */
    void (*finish) (struct sim_ref *ref, uint32_t copy);
    /* Its answer or refusal has come to who waits for it. NULL: the client takes it, no more. */
    void (*answer) (struct sim_ref *ref, uint32_t copy);
    /* Probes and their answers; NULL: there are none. */
    void (*message) (struct sim_ref *ref, const struct sim_event *event);
    uint32_t dispatches_max; /* copies made by one event that is no arrival */
};

extern const struct sim_ref_policy sim_ref_central;
extern const struct sim_ref_policy sim_ref_jsq;
extern const struct sim_ref_policy sim_ref_laedge;
extern const struct sim_ref_policy sim_ref_netclone;
extern const struct sim_ref_policy sim_ref_prequal;
extern const struct sim_ref_policy sim_ref_prequal_rif;
extern const struct sim_ref_policy sim_ref_c3;
extern const struct sim_ref_policy sim_ref_ideal_cos;
extern const struct sim_ref_policy sim_ref_ideal_coc;

struct sim_ref {
    const struct sim_run_options *options;
    const struct sim_scenario *scenario;
    const struct sim_ref_policy *policy;
    struct sim_result *result;
    void *state; /* the policy's */
    uint32_t d;  /* of the scenario's policy, >= 1; may be more than a group has */
    tied_time_t now;
    struct sim_events *events;
    struct sim_source *source;
    struct sim_speed *speed;

    uint32_t servers_count, workers, depth_max;
    struct sim_ref_server *servers;
    uint32_t *load; /* of each server: copies on their way to it, waiting or running */
    struct sim_ref_level waiting, running;
    bool has_span;
    bool is_endless; /* a service never ends: nothing can be said of the run */
    uint64_t runs;

    struct sim_ref_call *calls;
    uint32_t calls_size, calls_free;
    struct sim_ref_copy *copies;
    uint32_t copies_size, copies_free;
    uint32_t copies_idle, calls_idle; /* free slots */
    struct ti_link *links;            /* sentinels of the servers, then the copies */

    /* Messages of constant delay go through lanes. */
    int lane, lane_first_half, lane_second_half, lane_deadline;
    uint64_t messages;

    uint32_t group_size;
    struct sim_ref_sample sample, sample_last; /* of a group, of the last and smaller one */
    struct ti_prng *choices;                   /* of each client, then of what is between */
};

/* ---- ref.c: messages, randomness, trace ---- */

/* One way between client and replica, drawn for one message. */
tied_duration_t sim_ref_delay (struct sim_ref *ref);
/* lane: one of ref's, and the delay is the one of that lane; -1: any. */
void sim_ref_post (struct sim_ref *ref,
                   int lane,
                   tied_duration_t delay,
                   enum sim_ref_kind kind,
                   uint32_t a,
                   uint32_t b,
                   uint64_t value);
/* The same with a drawn delay. */
void sim_ref_send (
    struct sim_ref *ref, enum sim_ref_kind kind, uint32_t a, uint32_t b, uint64_t value);

/* Replicas that a client knows: first .. first + count - 1. */
struct sim_ref_group {
    uint32_t first, count;
};
struct sim_ref_group sim_ref_group_of (const struct sim_ref *ref, uint32_t client);
/* `count` distinct replicas of the client's group in random order, less if it has fewer: written to
 * nowhere, read with sim_ref_sampled (). */
struct sim_ref_sampled {
    const uint32_t *items;
    uint32_t first, count;
};
struct sim_ref_sampled
sim_ref_sample (struct sim_ref *ref, uint32_t client, uint32_t count, struct ti_prng *choices);
static inline uint32_t sim_ref_sampled_at (const struct sim_ref_sampled *self, uint32_t i)
{
    return self->first + self->items[i];
}
/* Generator of what is between clients and servers. */
static inline struct ti_prng *sim_ref_between (struct sim_ref *ref)
{
    return &ref->choices[ref->scenario->clients];
}

/* Into the trace hash, and to the watcher of the call. */
void sim_ref_tell (struct sim_ref *ref, enum sim_ref_kind kind, uint32_t call, uint32_t copy);

/* ---- calls.c ---- */

/* Room for so many more; false: no memory. */
bool sim_ref_reserve (struct sim_ref *ref, uint32_t calls, uint32_t copies);
void sim_ref_calls_deinit (struct sim_ref *ref);
uint32_t sim_ref_call_new (struct sim_ref *ref, uint64_t number, const struct sim_request *request);
/* A hold keeps the call alive without a copy; the last release of a call that has not ended, by a
 * hold or by a copy, ends it as rejected. */
void sim_ref_hold (struct sim_ref *ref, uint32_t call);
void sim_ref_release (struct sim_ref *ref, uint32_t call);
void sim_ref_call_end (struct sim_ref *ref, uint32_t call, enum tied_outcome outcome);
/* A new copy, counted as sent. */
uint32_t sim_ref_copy_new (struct sim_ref *ref, uint32_t call, uint32_t server);
/* What it ran is wasted unless it answered the call. The copy may not be used afterwards. */
void sim_ref_copy_over (struct sim_ref *ref, uint32_t copy, bool has_answered);
/* The default for the answer of a copy: it ends the call if it is the first. */
void sim_ref_take_answer (struct sim_ref *ref, uint32_t copy);

/* ---- servers.c ---- */

int sim_ref_servers_init (struct sim_ref *ref);
void sim_ref_servers_deinit (struct sim_ref *ref);
static inline uint32_t sim_ref_in_server (const struct sim_ref *ref, uint32_t server)
{
    return ref->servers[server].waiting + ref->servers[server].running;
}
/* The copy has reached its server. @return false: refused */
bool sim_ref_enter (struct sim_ref *ref, uint32_t copy);
/* It has reached its server, which will not have it. */
void sim_ref_refuse (struct sim_ref *ref, uint32_t copy);
void sim_ref_finished (struct sim_ref *ref, const struct sim_event *event);
/* Takes a waiting copy out, or stops a running one and lets the next begin; it is over then. */
void sim_ref_cancel (struct sim_ref *ref, uint32_t copy);
void sim_ref_level_add (struct sim_ref *ref, struct sim_ref_level *level, int64_t change);
/* A measured call has arrived: the span reaches until now. */
void sim_ref_span (struct sim_ref *ref);

#endif
