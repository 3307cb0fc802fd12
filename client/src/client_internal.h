/* SPDX-License-Identifier: MIT */
/*
 * The client object and the seams between its files.
 *
 *   options.c  defaults and checks         client.c   lifecycle
 *   call.c     calls: begun, given up      wait.c     waited for, collected
 *   query.c    what can be asked           calls.c    table of calls
 *   engine.c   core, sending               links.c    which link needs a look
 *   receive.c  what links bring            seat.c     who polls, who waits
 *   thread.c   the thread of the THREADED drive
 *   methods.c  method names and numbers    policies.c settings at run time
 *   inherit.c  calls made for a request    gather.c   many calls as one
 *
 * One lock, `lock`, guards the core, the links and the table of calls: everything below that is
 * not marked otherwise. Every socket operation happens under it and none of them blocks; only the
 * poll happens outside.
 *
 * Rule for sockets: any use of a link may swallow the edge of its descriptor, so a used link is put
 * on the dirty list. Whoever polls looks after the dirty links first; whoever unlocks while another
 * thread polls looks after them before (ti_engine_settle ()).
 */
#ifndef TI_CLIENT_INTERNAL_H
#define TI_CLIENT_INTERNAL_H

#include <pthread.h>

#include <tied/client.h>

#include "base/parent.h"
#include "calls.h"
#include "methods.h"
#include "zmq/link.h"
#include "zmq/loop.h"

struct ti_client_link {
    char id[TIED_NAME_MAX + 1];
    size_t id_size;
    struct ti_link link;
    bool is_dirty;
    uint32_t body_max; /* of a request, as the last WELCOME says; UINT32_MAX before the first */
};

/* A copy that has not left: its link did not take it, or it must not be sent there. */
struct ti_send_failure {
    struct tied_call_id call;
    uint32_t replica;
    uint8_t copy;
    bool is_too_large;
};

/* The reply that the core is being told of: a COMPLETE of the same call takes its body. */
struct ti_delivery {
    struct tied_call_id call;
    struct ti_envelope *envelope;
    struct tied_view body;
    bool is_repeated;
};

enum ti_seat {
    TI_SEAT_FREE = 0,
    TI_SEAT_CALLER, /* a thread inside one of the waiting functions polls */
    TI_SEAT_THREAD  /* the client's own thread polls */
};

enum ti_wait_kind {
    TI_WAIT_CALL = 0, /* for the end of one call */
    TI_WAIT_QUEUE,    /* for a completion in the queue */
    TI_WAIT_ANY,      /* for the end of any call */
    TI_WAIT_READY,    /* for a number of usable replicas */
    TI_WAIT_GATHER    /* for the end of several calls, or the success of some */
};

/* A thread inside a waiting function; lives on its stack. */
struct ti_waiter {
    struct ti_waiter *prev, *next;
    pthread_cond_t cond;
    bool has_cond;
    bool is_called; /* was signalled and has not looked yet */
    enum ti_wait_kind kind;
    uint32_t token;    /* CALL */
    uint64_t ended;    /* ANY: calls ended when the wait began */
    uint32_t replicas; /* READY */
    uint32_t open;     /* GATHER: calls that have not ended; */
    uint32_t good;     /* that have succeeded; */
    uint32_t need;     /* as many are enough */
};

enum ti_client_state {
    TI_CLIENT_NEW = 0,
    TI_CLIENT_STARTED,
    TI_CLIENT_STOPPING,
    TI_CLIENT_STOPPED
};

/*
 * Invariants, under the lock:
 * 1. seat == CALLER exactly when leader != NULL, and leader is in the list of waiters.
 * 2. is_polling implies seat != FREE; poll_until is valid while is_polling.
 * 3. seat == FREE and waiters != NULL: one of the waiters is running or has been signalled.
 * 4. a link with is_dirty is in dirty[0 .. dirty_count).
 */
struct tied_client {
    struct tied_client_options options; /* name points to `name` */
    char name[TIED_NAME_MAX + 1];
    pthread_mutex_t lock;
    pthread_condattr_t monotonic;
    enum ti_client_state state;

    tied_client_core_t *core;
    void *core_memory;
    struct ti_client_calls calls;
    struct ti_client_methods methods;
    uint64_t calls_ended;
    struct ti_delivery *delivery;
    struct ti_send_failure *failures; /* ring: SEND_REQUESTs to report to the core */
    uint32_t failures_max, failures_head, failures_count;

    void *context;
    bool owns_context;
    ti_loop_t *loop;
    struct ti_client_link *links;
    uint32_t links_count;
    uint32_t *dirty;
    uint32_t dirty_count;

    enum ti_seat seat;
    struct ti_waiter *leader;
    bool is_polling;
    tied_time_t poll_until;
    struct ti_waiter *waiters; /* all threads inside waiting functions, oldest first */
    struct ti_waiter *waiters_last;
    pthread_cond_t idle; /* stop waits for the last waiter and the seat */

    bool has_thread;
    pthread_t thread;
    pthread_cond_t thread_cond;
    bool thread_sleeps;
    tied_time_t thread_wakes_at; /* while thread_sleeps */
    tied_time_t caller_seen;     /* when a waiting function was last at work */

    int event_fd; /* readable while the queue holds completions; -1 until asked for */
    int host_fd;  /* CALLER: epoll of the loop and event_fd; -1 until asked for */
    bool is_event_set;

#define TIED_CLIENT_IO_MEMBER_(name) uint64_t name;
    struct {
        TIED_CLIENT_IO_COUNTER_MAP (TIED_CLIENT_IO_MEMBER_)
    } io;
#undef TIED_CLIENT_IO_MEMBER_
};

/* waiters.c: under the lock. */
void ti_waiters_enlist (tied_client_t *self, struct ti_waiter *waiter);
void ti_waiters_delist (tied_client_t *self, struct ti_waiter *waiter);
/* What it waits for has happened, or the client stops. */
bool ti_waiter_is_satisfied (const tied_client_t *self, const struct ti_waiter *waiter);
/* The leader waits for one call, which has ended, and nobody else waits for anything. */
bool ti_waiters_are_done (const tied_client_t *self);
/* A call has ended: wake who waits for it. */
void ti_waiters_call_ended (tied_client_t *self, uint32_t token);
/* The state of a replica has changed. */
void ti_waiters_replica_changed (tied_client_t *self);
/* Wake one waiter to take the free seat. */
void ti_waiters_hand_over (tied_client_t *self);
/* The client stops: wake everybody. */
void ti_waiters_wake_all (tied_client_t *self);
/* One completion wakes one of those who wait for the queue; the leader needs no hop. */
void ti_waiters_call_for_queue (tied_client_t *self);

/* engine.c: under the lock. */
/* Step the core and do what it wants, failed sends included. 0 or the error of the step. */
TIED_NODISCARD int
ti_engine_step (tied_client_t *self, const struct tied_client_event *event, tied_time_t now);
/* The same for events that the network made: what the core cannot take is counted. */
void ti_engine_step_event (tied_client_t *self,
                           const struct tied_client_event *event,
                           tied_time_t now);
/* Give up a live call. */
void ti_engine_cancel (tied_client_t *self, uint32_t token, tied_time_t now);
/* Let the core do what is due. */
void ti_engine_run_timers (tied_client_t *self, tied_time_t now);
/* Make the host's descriptor say whether the queue holds completions. */
void ti_engine_show_queue (tied_client_t *self);
/* The link to this replica was used: somebody has to look at it before the next poll. */
void ti_engine_mark_dirty (tied_client_t *self, uint32_t replica);

/* links.c: under the lock. */
/* Look after the links that were used since somebody polled; bounded work. */
void ti_engine_serve_dirty (tied_client_t *self, tied_time_t now);
/* Look after one link whose descriptor was readable; bounded work. */
void ti_engine_serve (tied_client_t *self, uint32_t replica, tied_time_t now);
/* Before unlocking after any use of the engine outside a turn: see the rule above. */
void ti_engine_settle (tied_client_t *self);
/* Settle and unlock: every public function that used the engine ends with it. */
void ti_engine_leave (tied_client_t *self);

/* receive.c: under the lock. */
/* The envelope stays the caller's to close; its body may have been moved out. */
void ti_engine_on_envelope (tied_client_t *self,
                            uint32_t replica,
                            struct ti_envelope *envelope,
                            tied_time_t now);
/* LINK_UP or LINK_DOWN. */
void ti_engine_on_link (tied_client_t *self,
                        uint32_t replica,
                        enum tied_client_event_type type,
                        tied_time_t now);

/* seat.c: under the lock, which is released while they wait. */
/* 0 when it happened (or the client stops), TIED_ERR_TIMEOUT. until 0: look once, do not wait. */
TIED_NODISCARD int
ti_seat_wait (tied_client_t *self, struct ti_waiter *waiter, tied_time_t until, tied_time_t now);
/* One round of work by the owner of the seat: poll until then, for `waiter` if not NULL. */
void ti_seat_turn (tied_client_t *self, struct ti_waiter *waiter, tied_time_t until);

/* thread.c: under the lock. */
TIED_NODISCARD int ti_thread_start (tied_client_t *self);

/* duty.c: under the lock. */
/* Nothing is under way: the client counts as left alone after this. */
#define TI_CLIENT_IDLE TIED_MS (20)
/* When the thread has to take the free seat, as things are now. */
tied_time_t ti_duty_time (const tied_client_t *self);
/* Called when nobody waits any more or work was added: wakes the thread if it is needed sooner than
   it would wake by itself. */
void ti_duty_nudge (tied_client_t *self, tied_time_t now);

/* wait.c: under the lock. */
/* Until the call has ended; it has at most one waiter. 0, TIED_ERR_TIMEOUT. */
TIED_NODISCARD int
ti_wait_for_call (tied_client_t *self, uint32_t token, tied_time_t until, tied_time_t now);
/* The reply of an ended call; frees its token. 0, TIED_ERR_NOMEM: the call stays as it was. */
TIED_NODISCARD int ti_wait_collect (tied_client_t *self, uint32_t token, struct tied_reply *out);

/* call.c */
struct ti_begun {
    uint32_t token;
    struct tied_call_id id;
    tied_time_t now;
};
/* 0, or what is wrong with the call. */
TIED_NODISCARD int ti_call_check (const tied_client_t *self, const struct tied_call *call);
/* Under the lock: the call is on its way, or has ended already, when this returns 0. Releases the
   lock for a moment if the body is long. It has to end by `until`, whatever it says itself. */
TIED_NODISCARD int ti_call_submit (tied_client_t *self,
                                   const struct tied_call *call,
                                   const struct ti_parent_terms *terms,
                                   tied_time_t until,
                                   struct ti_begun *out);

/* inherit.c: without the lock. A begin that returns 0 is followed by one end; id 0: the call was
   not submitted. */
TIED_NODISCARD int ti_inherit_begin (const struct tied_call *call, struct ti_parent_terms *out);
void ti_inherit_end (tied_client_t *self, const struct tied_call *call, struct tied_call_id id);

/* client.c: NULL if there is none. */
struct ti_client_link *ti_client_find_link (tied_client_t *self, const char *id);

/* options.c */
/* 0, TIED_ERR_INVAL; *out is a complete copy with what is drawn from the system filled in. */
TIED_NODISCARD int ti_client_options_import (const struct tied_client_options *options,
                                             struct tied_client_options *out);

#endif
