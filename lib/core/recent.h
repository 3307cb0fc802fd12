/* SPDX-License-Identifier: MIT */
/*
 * Notes about copies that are not here (any more, or yet): tombstones, finished ties, refusals.
 *
 * A bounded table with one note per copy. Notes leave in the order in which they were last written,
 * by age or, when the table is full, to make room. What a note means is lib/core/tie's business.
 */
#ifndef TI_RECENT_H
#define TI_RECENT_H

#include <tied/replica_core.h>

#include "base/idmap.h"
#include "base/util.h"

#define TI_NOTE_NONE UINT32_MAX

enum ti_note_kind {
    TI_NOTE_TOMBSTONE = 1, /* the sibling's STARTED came first: drop the copy when it arrives */
    TI_NOTE_UNTIED,        /* the sibling's UNTIE came first: the copy will be the only one */
    TI_NOTE_GONE,          /* refused, expired, dropped, or met its tombstone: it did not run */
    TI_NOTE_FINISHED,      /* it has run */
    TI_NOTE_GRANTED,       /* exclusive: `peer` may run its copy, this one never will */
    TI_NOTE_GRANTED_UNSEEN /* the same, given before this one came */
};

struct ti_note {
    struct tied_call_id call;
    tied_time_t at;
    uint32_t prev;
    uint32_t next;
    uint8_t copy;
    uint8_t kind;
    bool is_done;      /* TOMBSTONE: the sibling's DONE came, too */
    bool is_exclusive; /* of a copy of that mode: to forget it is to be unable to prove anything */
    union {
        uint32_t peer;     /* is_exclusive: where the sibling is */
        uint32_t alive_ms; /* is_exclusive, FINISHED: how long after `at` the sibling may still
                              start, see forgotten_until */
    };
};

#define TI_NOTE_ALIVE_ALWAYS UINT32_MAX

struct ti_recent {
    size_t notes; /* offset of struct ti_note[max] */
    struct ti_idmap index;
    tied_duration_t ttl_ns;
    tied_time_t forgotten_at;    /* when the youngest exclusive note that was forgotten had been
                                    written; 0: none ever was */
    tied_time_t forgotten_until; /* a copy that has run here was forgotten while its sibling may
                                    still start: until then no other one is proven not to have run;
                                    0: none ever was */
    uint32_t head;               /* oldest */
    uint32_t tail;
    uint32_t free;
    uint32_t max;
};

/* Bytes of the arrays for max notes; and an empty table over such an array, which lies after self
 * in the same block. */
size_t ti_recent_size (uint32_t max);
void ti_recent_init (
    struct ti_recent *self, void *array, uint32_t max, tied_duration_t ttl_ns, uint64_t seed);

/* Number of the note about this copy, or TI_NOTE_NONE. */
uint32_t ti_recent_find (const struct ti_recent *self, struct tied_call_id call, uint8_t copy);

/* Write the note about a copy, over an older one if there is one; may evict the oldest note, which
 * is counted. The note, which is not exclusive, to be filled in further; valid until the next put.
 */
struct ti_note *ti_recent_put (struct ti_recent *self,
                               struct tied_call_id call,
                               uint8_t copy,
                               enum ti_note_kind kind,
                               tied_time_t now,
                               struct tied_replica_counters *counters);

/* It has served its purpose, which is not forgetting. */
void ti_recent_remove (struct ti_recent *self, uint32_t index);

/* Remove at most `bound` notes older than the limit; those that were tombstones are counted. */
void ti_recent_age (struct ti_recent *self,
                    tied_time_t now,
                    uint32_t bound,
                    struct tied_replica_counters *counters);

/* When the oldest note reaches its limit; TIED_NEVER if there is none. */
tied_time_t ti_recent_deadline (const struct ti_recent *self);

void ti_recent_check (const struct ti_recent *self);

static inline struct ti_note *ti_recent_note (struct ti_recent *self, uint32_t index)
{
    return TI_AT (struct ti_note, self, self->notes) + index;
}

static inline const struct ti_note *ti_recent_note_const (const struct ti_recent *self,
                                                          uint32_t index)
{
    return TI_AT_CONST (struct ti_note, self, self->notes) + index;
}

static inline uint32_t ti_recent_count (const struct ti_recent *self)
{
    return self->index.count;
}

#endif
