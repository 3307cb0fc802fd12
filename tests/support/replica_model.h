/* SPDX-License-Identifier: MIT */
/*
 * The replica core once more, written as plainly as possible: small arrays, linear searches, no
 * index. The property test feeds it the same events and compares every action and counter. What
 * the model takes from the core is the slot number of an admitted copy, which is only a name.
 */
#ifndef TEST_REPLICA_MODEL_H
#define TEST_REPLICA_MODEL_H

#include <tied/replica_core.h>

#define MODEL_COPIES_MAX  64
#define MODEL_NOTES_MAX   64
#define MODEL_CLIENTS_MAX 8
#define MODEL_PEERS_MAX   8
#define MODEL_ACTIONS_MAX 256

enum model_aside {
    MODEL_IN_QUEUE,
    MODEL_PARKED,
    MODEL_CLAIMING
};

struct model_copy {
    struct tied_call_id call;
    uint64_t id;    /* order of arrival */
    int64_t place;  /* in the queue */
    uint64_t began; /* order of start; 0: it waits */
    tied_time_t arrived;
    tied_time_t deadline;
    tied_time_t started;
    uint32_t client;
    uint32_t sibling;
    uint32_t slot;
    uint8_t copy;
    bool is_behind;
    bool is_relief; /* before all others that wait */
    bool is_tied;
    bool is_untied;
    bool is_told;
    bool is_late; /* the sibling started too */
    bool is_cancelled;
    bool is_parking; /* mode park */
    bool is_once;    /* mode exclusive */
    bool is_revived;
    enum model_aside aside; /* while it waits */
    uint64_t aside_rank;    /* order among those that are aside in the same way */
    tied_time_t due;
    tied_time_t born;
    uint64_t sibling_incarnation;
    uint8_t merged; /* youngest re-issue that waits for this copy's answer */
};

enum model_note_kind {
    MODEL_TOMBSTONE,
    MODEL_UNTIED,
    MODEL_GONE,
    MODEL_FINISHED,
    MODEL_GRANTED,
    MODEL_GRANTED_UNSEEN
};

struct model_note {
    struct tied_call_id call;
    tied_time_t at;
    uint8_t copy;
    enum model_note_kind kind;
    bool is_done;
    bool is_once;
    uint32_t peer;
    tied_time_t sibling_until; /* is_once, FINISHED, even */
};

enum model_client_state {
    MODEL_FREE,
    MODEL_LIVE,
    MODEL_SUSPECT,
    MODEL_GOING,
    MODEL_WAITING
};

struct model_client {
    enum model_client_state state;
    tied_time_t since;
    uint64_t rank;      /* order in which the clients of one state came to it */
    uint64_t idle_rank; /* the same by their last word or the end of their last copy */
    uint64_t epoch;
    int windows;
    int64_t low[2]; /* this window and the one before */
    tied_time_t low_at[2];
    bool may_listen; /* going because it was silent, not because it is known to be gone */
};

struct model {
    struct tied_replica_core_options options;
    struct tied_replica_counters counters;
    tied_time_t now;
    bool is_draining;
    bool is_up[MODEL_PEERS_MAX];
    struct model_copy copies[MODEL_COPIES_MAX];
    uint32_t copies_count;
    struct model_note notes[MODEL_NOTES_MAX]; /* oldest first */
    uint32_t notes_count;
    tied_time_t forgotten_at; /* when the youngest exclusive note forgotten was written */
    tied_time_t
        forgotten_until; /* by then the siblings of all that ran and was forgotten are late */
    struct model_client clients[MODEL_CLIENTS_MAX];
    int64_t saved_turns; /* below what is there at first; [- 4 x hedge_depth, 0] */
    uint64_t next_id;
    uint64_t service_x8;
    bool is_measured;
    uint64_t cursor; /* id of the copy that the sweep looks at next; 0: none */
    tied_time_t earliest;
    tied_time_t sweep_not_before;
    tied_time_t age_not_before;
    struct tied_replica_action actions[MODEL_ACTIONS_MAX];
    uint32_t actions_count;
};

void model_init (struct model *self, const struct tied_replica_core_options *options);

/* Feed a valid event. slot: the number that the core gave, should the event admit a copy. */
void model_step (struct model *self,
                 const struct tied_replica_event *event,
                 tied_time_t now,
                 uint32_t slot);

uint32_t model_depth (const struct model *self);
uint32_t model_running (const struct model *self);
tied_time_t model_deadline (struct model *self);

#endif
