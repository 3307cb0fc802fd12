/* SPDX-License-Identifier: MIT */
/*
 * Groups of replicas share nothing, so each can run on a clock of its own: part 0 runs for a window
 * of virtual time, then part 1, and so on. The hosts of a part stay in the cache for a whole
 * window, which is what makes large worlds as fast as small ones. What comes to each part is drawn
 * before the window; what each part did is told to the source after it, in the order of time.
 *
 * Nothing of a part depends on where windows end. A closed loop is one part: there an arrival
 * depends on an end, wherever that was.
 */
#ifndef SIM_WORLD_PARTS_H
#define SIM_WORLD_PARTS_H

#include "world/world_internal.h"

enum world_entry_kind {
    WORLD_ENTRY_REQUEST = 0,
    WORLD_ENTRY_FIRST, /* the first measured request comes, here or elsewhere */
    WORLD_ENTRY_LAST,  /* the last one has come */
    WORLD_ENTRY_END    /* of a call */
};

/* What comes, or what has been. */
struct world_entry {
    tied_time_t at; /* of the source */
    uint64_t call;  /* REQUEST: the first one */
    uint32_t client;
    uint16_t outcome;
    uint16_t kind;
};

struct world_list {
    struct world_entry *entries;
    uint32_t next, count, capacity;
};

/* The fields of the world that are the part's own, while it does not run. */
struct world_part {
    struct sim_events *events;
    tied_time_t now, origin, area_at, progress_at;
    uint64_t hash, messages, waiting, busy, waiting_area, busy_area, calls_unsettled;
    uint64_t steps;
    struct world_list to_come, done;
    bool is_last_known; /* WORLD_ENTRY_LAST has come */
    bool is_over;       /* no measured call is left, and none is to come */
};

/* world.c */
enum world_ending {
    WORLD_ENDING_DONE,
    WORLD_ENDING_CALLS_FULL, /* a client's table */
    WORLD_ENDING_QUEUE_FULL, /* a replica's, which is smaller than the scenario allows */
    WORLD_ENDING_WINDOW,     /* the part goes on later */
    WORLD_ENDING_STOPPED,    /* from outside */
    WORLD_ENDING_NO_MEMORY,
    WORLD_ENDING_REFUSED /* the world could not be made: why says it */
};
void world_greet (struct world *self);
/* What is before `to`, a time of the source. */
enum world_ending world_run_part (struct world *self, struct world_part *part, tied_time_t to);

/* world_parts.c */
/* With so many timers each. False: no memory. */
bool world_make_parts (struct world *self, uint32_t timers);
void world_free_parts (struct world *self);
/* The world has the part's fields in between. Nothing happens where there is one part. */
void world_enter_part (struct world *self, uint32_t number);
void world_leave_part (struct world *self);
/* `window` as in the run's options. */
enum world_ending world_run_parts (struct world *self, uint32_t window);
uint64_t world_parts_bytes (const struct world *self);

/* world_window.c */
/* Draws so many requests for all parts. @return the window's end, TIED_NEVER: all are drawn */
tied_time_t world_draw_window (struct world *self, uint32_t window);
/* Tells the source what the parts did. */
void world_tell_window (struct world *self);
void world_part_ended (struct world *self, uint64_t call, uint32_t outcome);
/* The next entry that has come; the world's time is its. */
void world_part_arrive (struct world *self, struct world_part *part);

#endif
