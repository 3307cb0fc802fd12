/* SPDX-License-Identifier: MIT */
/*
 * What a replica knows of its clients: who is alive, which copies belong to whom, and the base of
 * each one's transit measurement. Indices are the driver's.
 *
 * Silence takes two looks: after 7/8 of the limit a client becomes suspect, and it is gone only
 * when another 1/8 passes without a word. In normal operation that is exactly the limit. After the
 * process was stopped for long, the second part gives the driver time to read what has been waiting
 * in its sockets before every client is declared dead.
 */
#ifndef TI_CLIENTS_H
#define TI_CLIENTS_H

#include "base/assert.h"
#include "core/queue.h"
#include "core/transit.h"

#define TI_CLIENT_NONE UINT32_MAX

enum ti_client_state {
    TI_CLIENT_FREE = 0, /* not in use */
    TI_CLIENT_LIVE,     /* in list LIVE, longest silent first; since = last word */
    TI_CLIENT_SUSPECT,  /* in list SUSPECT; since = when it was suspected */
    TI_CLIENT_GOING,    /* in list GOING: its copies are being removed */
    TI_CLIENT_WAITING   /* in no list: only running copies are left, all told to stop */
};

enum ti_client_list {
    TI_CLIENTS_LIVE = 0,
    TI_CLIENTS_SUSPECT,
    TI_CLIENTS_GOING,
    TI_CLIENTS_LISTS
};

struct ti_client_links {
    uint32_t prev;
    uint32_t next;
};

struct ti_client_ends {
    uint32_t head;
    uint32_t tail;
};

/* Lists of slots, linked by client_prev and client_next. In `running`, slots whose cancel flag is
 * raised stand behind all others. */
struct ti_slot_list {
    uint32_t head;
    uint32_t tail;
};

struct ti_client {
    struct ti_transit transit;
    tied_time_t since;
    struct ti_client_links links;      /* in the list of its state */
    struct ti_client_links idle_links; /* in the idle list */
    struct ti_slot_list queued;        /* by arrival; with those that are aside */
    struct ti_slot_list running;
    uint8_t state;
    bool is_silent; /* GOING, and by silence: its connection may still be there */
    bool is_idle;   /* LIVE or SUSPECT without a copy here: in the idle list */
};

struct ti_clients {
    size_t clients; /* offset of struct ti_client[max] */
    struct ti_client_ends lists[TI_CLIENTS_LISTS];
    struct ti_client_ends idle; /* longest without a word and a copy first */
    tied_duration_t silence_ns;
    uint32_t max;
};

/* Bytes of the array for max clients; and an empty table over it, after self in the same block. */
size_t ti_clients_size (uint32_t max);
void ti_clients_init (struct ti_clients *self,
                      void *array,
                      uint32_t max,
                      tied_duration_t silence_ns);

/* A word from this client: it is live, whatever it was. */
void ti_clients_touch (struct ti_clients *self, uint32_t index, tied_time_t now);

/* Its connection is gone: start to remove its copies, if silence has not done so before. */
void ti_clients_leave (struct ti_clients *self, uint32_t index);

/* Move the silent ones on, at most `bound` of them. */
void ti_clients_look (struct ti_clients *self, tied_time_t now, uint32_t bound);

/* When ti_clients_look () has something to do next; TIED_NEVER if never. */
tied_time_t ti_clients_deadline (const struct ti_clients *self);

/* A GOING client or TI_CLIENT_NONE. Remove its queued copies and raise the flags of its running
 * ones, then call _settle (). */
uint32_t ti_clients_going (const struct ti_clients *self);

/* GOING, nothing queued, all flags raised: forget it (true), or wait for its running copies. */
bool ti_clients_settle (struct ti_clients *self, uint32_t index);

/* WAITING, and the last running copy has ended: forget it (true). Else no effect. */
bool ti_clients_settle_waiting (struct ti_clients *self, uint32_t index);

/* Forget the client that has been idle for longest. Its index; TI_CLIENT_NONE: none is idle. */
uint32_t ti_clients_evict (struct ti_clients *self);

/* Keep the lists of copies: after a push, after a start, before a remove or finish, and when the
 * cancel flag of a running copy is raised. */
void ti_clients_queued (struct ti_clients *self, struct ti_queue *queue, uint32_t slot);
void ti_clients_started (struct ti_clients *self, struct ti_queue *queue, uint32_t slot);
void ti_clients_release (struct ti_clients *self, struct ti_queue *queue, uint32_t slot);
void ti_clients_flagged (struct ti_clients *self, struct ti_queue *queue, uint32_t slot);

void ti_clients_check (const struct ti_clients *self, const struct ti_queue *queue);

static inline struct ti_client *ti_clients_get (struct ti_clients *self, uint32_t index)
{
    return TI_AT (struct ti_client, self, self->clients) + index;
}

static inline const struct ti_client *ti_clients_get_const (const struct ti_clients *self,
                                                            uint32_t index)
{
    return TI_AT_CONST (struct ti_client, self, self->clients) + index;
}

/* Its copies must not run any more. */
static inline bool ti_client_is_leaving (const struct ti_client *client)
{
    return client->state == TI_CLIENT_GOING || client->state == TI_CLIENT_WAITING;
}

/* The list of a state; TI_CLIENTS_LISTS for the states without one. */
static inline enum ti_client_list ti_client_list_of (uint8_t state)
{
    switch ((enum ti_client_state)state) {
    case TI_CLIENT_LIVE:
        return TI_CLIENTS_LIVE;
    case TI_CLIENT_SUSPECT:
        return TI_CLIENTS_SUSPECT;
    case TI_CLIENT_GOING:
        return TI_CLIENTS_GOING;
    case TI_CLIENT_FREE:
    case TI_CLIENT_WAITING:
        return TI_CLIENTS_LISTS;
    }
    TI_UNREACHABLE ();
}

static inline bool ti_client_may_be_idle (const struct ti_client *client)
{
    return (client->state == TI_CLIENT_LIVE || client->state == TI_CLIENT_SUSPECT) &&
           client->queued.head == TI_SLOT_NONE && client->running.head == TI_SLOT_NONE;
}

#endif
