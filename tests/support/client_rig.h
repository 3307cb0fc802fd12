/* SPDX-License-Identifier: MIT */
/*
 * A client core on a bench: feeds events, keeps the actions, and holds every step against an oracle
 * that is written from the contract alone (see client_rig.c). Time moves only when a test says so.
 */
#ifndef TEST_CLIENT_RIG_H
#define TEST_CLIENT_RIG_H

#include <tied/client_core.h>
#include <tied/wire.h>

#define RIG_CALLS_MAX 64
#define RIG_LOG_MAX   4096

enum rig_copy_fate {
    RIG_COPY_NONE = 0,
    RIG_COPY_OUT,     /* may run or may have run */
    RIG_COPY_HARMLESS /* refused or never left */
};

/* What the oracle knows of a token. */
struct rig_call {
    bool is_live;
    bool is_idempotent;
    bool is_exclusive;
    bool has_failed; /* an error was kept: what was planned may go at once */
    struct tied_call_id id;
    tied_time_t deadline;
    tied_time_t hedge_from; /* no hedge before that time; TIED_NEVER: none at all */
    uint32_t sends;
    uint32_t hedges;
    uint32_t tied;      /* copies sent as tied */
    uint32_t last_copy; /* number sent last */
    uint32_t hedge;     /* number of the hedge */
    uint8_t fate[TIED_COPIES_MAX + 1];
    uint32_t replica[TIED_COPIES_MAX + 1];
    uint64_t instance[TIED_COPIES_MAX + 1];
};

struct rig {
    struct tied_client_core_options options;
    tied_client_core_t *core;
    size_t size;
    tied_time_t now;
    struct rig_call calls[RIG_CALLS_MAX];
    struct tied_client_action log[RIG_LOG_MAX]; /* since the last rig_forget () */
    uint32_t log_count;
    uint64_t completions;
    uint64_t accepted;
};

/* Small defaults: 8 calls, 8 replicas, epoch 7. Change rig->options before rig_start (). */
void rig_init (struct rig *rig);
void rig_start (struct rig *rig);
void rig_stop (struct rig *rig);

/* One event now; the actions are judged and appended to the log. Returns what step returned. */
int rig_step (struct rig *rig, const struct tied_client_event *ev);

/* Timeouts at every deadline up to that time, which is then now. */
void rig_advance (struct rig *rig, tied_time_t to);

/* Add a replica and greet it: it is UP with that incarnation. Returns its index. */
uint32_t rig_replica (struct rig *rig, uint64_t incarnation);
void rig_link (struct rig *rig, uint32_t replica, bool is_up);
void rig_welcome (struct rig *rig, uint32_t replica, uint64_t incarnation);
void rig_pong (struct rig *rig, uint32_t replica, struct tied_load load);

/* An idempotent tied call with this token, stagger and time until the deadline; must be accepted.
 */
struct tied_call_id
rig_tied (struct rig *rig, uint32_t token, tied_duration_t stagger, tied_duration_t timeout);
int rig_submit (struct rig *rig, const struct tied_client_submit *submit);

void rig_reply (
    struct rig *rig, uint32_t replica, struct tied_call_id call, uint8_t copy, uint32_t flags);
void rig_reject (
    struct rig *rig, uint32_t replica, struct tied_call_id call, uint8_t copy, uint8_t reason);
/* An application error. */
void rig_fail (struct rig *rig,
               uint32_t replica,
               struct tied_call_id call,
               uint8_t copy,
               uint32_t status,
               uint32_t flags);
int rig_send_failed (struct rig *rig, uint32_t replica, struct tied_call_id call, uint8_t copy);
int rig_cancel (struct rig *rig, struct tied_call_id call);

void rig_forget (struct rig *rig);
uint32_t rig_count (const struct rig *rig, enum tied_client_action_type type);
/* The n-th action of a type in the log; fails the test if there are fewer. */
const struct tied_client_action *
rig_get (const struct rig *rig, enum tied_client_action_type type, uint32_t n);
/* The one completion in the log; fails the test unless there is exactly one. */
const struct tied_client_completion *rig_done (const struct rig *rig);
const struct tied_client_counters *rig_counters (const struct rig *rig);
struct tied_client_replica rig_look (const struct rig *rig, uint32_t replica);

#endif
