/* SPDX-License-Identifier: MIT */
/*
 * Events in the order of (time, order of scheduling), or with a seeded shuffle of equal times. A
 * 4-ary heap for events of any time, timers that are set and set again, and lanes for what takes
 * equally long: what enters a lane enters in the order of its times, so a ring of bytes is enough
 * and nothing is sifted. At most 2^24 events are in the heap, and 2^40 pass through in a life.
 *
 * An event is a small record of the caller's; a lane record may carry a message. One owner.
 */
#ifndef SIM_EVENTS_H
#define SIM_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tied/types.h>

#define SIM_EVENT_BYTES_MAX 224
#define SIM_EVENT_ROOM      520 /* to write them in; a little more than a header needs */
#define SIM_LANES_MAX       8

struct sim_event {
    tied_time_t at;
    uint64_t order; /* set by the queue */
    uint32_t kind;  /* the caller's */
    uint32_t a, b;
    uint64_t value;
    uint16_t size;              /* bytes that follow, 0: none */
    const unsigned char *bytes; /* valid until the next call that changes the queue */
};

/* An event in the making, where it will wait. */
struct sim_record {
    tied_time_t at; /* this and `order` are the queue's */
    uint64_t order;
    uint64_t value;
    uint32_t kind;
    uint32_t a, b;
    uint32_t size;
    unsigned char bytes[]; /* SIM_EVENT_ROOM to write in, SIM_EVENT_BYTES_MAX to stay */
};

struct sim_events;

/* What take () gives for a timer; its number is in `a`. */
#define SIM_EVENT_TIMER UINT32_MAX

/* NULL: no memory. `shuffle_seed` 0: equal times in order of scheduling. */
struct sim_events *sim_events_new (uint64_t shuffle_seed);
void sim_events_free (struct sim_events *self);

/* A lane for events that are never scheduled before the latest one in it. @return its number, -1:
 * SIM_LANES_MAX */
int sim_events_add_lane (struct sim_events *self);

/* The next event of a lane, -1: of the heap. Whoever has filled it in posts it; a call that changes
 * the queue before forgets it. */
struct sim_record *sim_events_next (struct sim_events *self, int lane);
void sim_events_post (struct sim_events *self, int lane, tied_time_t at);
/* Both at once; event->bytes are copied. Never fails: out of memory ends the process through the
 * assert handler. Earlier than the latest in the lane: an error of ours, asserted. */
void sim_events_put (struct sim_events *self, int lane, const struct sim_event *event);

/* So many timers, numbered from 0, all off. The first `few` of them may be set more often than all
 * others together: it takes less. Once. @return false: no memory */
TIED_NODISCARD bool sim_events_add_timers (struct sim_events *self, uint32_t few, uint32_t count);
/* A timer has one time or none (TIED_NEVER); to set it again forgets the earlier one. It is off
 * when it has been taken. */
void sim_events_set_timer (struct sim_events *self, uint32_t timer, tied_time_t at);
tied_time_t sim_events_timer (const struct sim_events *self, uint32_t timer);

/* Time of the first event, TIED_NEVER: none. */
tied_time_t sim_events_time (struct sim_events *self);
/* Takes the first event; false: none. */
bool sim_events_take (struct sim_events *self, struct sim_event *out);
/* The same, if it comes before `limit`. */
bool sim_events_take_before (struct sim_events *self, tied_time_t limit, struct sim_event *out);
/* Kind, a and b of the first event, for a look ahead. False: none. */
bool sim_events_peek (struct sim_events *self, uint32_t *kind, uint32_t *a, uint32_t *b);
/* Timers that are on count as well. */
uint64_t sim_events_count (const struct sim_events *self);
/* Memory taken by now. */
size_t sim_events_bytes (const struct sim_events *self);

#endif
