/* SPDX-License-Identifier: MIT */
/*
 * The copies of one call as sets of copy numbers, and what follows when one of them is refused,
 * lost or could not be sent. It decides; it sends nothing, knows no replica and no time.
 *
 * Invariants (ti_race_check):
 * 1. every number in sent is in exactly one of alive, lost, refused, unsent and failed;
 * 2. tied is a subset of sent and of {0, 1};
 * 3. at most copies_max numbers are in sent, and next_copy is above all of them;
 * 4. while copy 1 is planned, it is not in sent, copy 0 is alive and the call is idempotent or
 *    exclusive, of which it is never both;
 * 5. hedged holds at most one number, 2 or above and in sent; none while the hedge is planned, and
 *    then the call is idempotent. So a call has one hedge, also if that is refused.
 */
#ifndef TI_RACE_H
#define TI_RACE_H

#include <tied/types.h>

#define TI_RACE_BIT(copy) ((uint16_t)(1u << (copy)))

struct ti_race {
    uint16_t sent;    /* numbers used */
    uint16_t alive;   /* without an answer */
    uint16_t tied;    /* sent with the flag TIED: a peer's STARTED may drop them */
    uint16_t lost;    /* their replica was lost: may have executed */
    uint16_t refused; /* definitely not executed */
    uint16_t unsent;  /* never left this process: definitely not executed */
    uint16_t failed;  /* answered with an application error that did not end the call */
    uint16_t hedged;  /* the hedge: subset of sent */
    uint8_t copies_sent;
    uint8_t copies_max;
    uint8_t next_copy;    /* number of the next further copy, at least 2 */
    uint8_t first_reject; /* enum tied_reject, or another number off the wire; 0: none */
    bool is_idempotent;
    bool is_exclusive; /* must not run twice: no re-issue, and copies wait for each other's word */
    bool is_planned;   /* copy 1 waits for its stagger */
    bool had_last;     /* the one last try was made */
    bool is_hedge_planned;
};

enum ti_race_next {
    TI_RACE_GO_ON,     /* another copy will answer */
    TI_RACE_SEND_TIED, /* copy 1 now, untied: it is the only one */
    TI_RACE_REROUTE,   /* nothing executed: to another instance, for every kind of call */
    TI_RACE_LAST,      /* one more try with the flag LAST */
    TI_RACE_REISSUE,   /* again with a new number, and the flag REISSUE */
    TI_RACE_END        /* nothing is certain to answer, and nothing more may be sent */
};

void ti_race_init (struct ti_race *self, bool is_idempotent, uint32_t copies_max);

/* Numbers: 0 first, 1 only for the tied copy, others from next_copy. Precondition: it may send. */
void ti_race_sent (struct ti_race *self, uint8_t copy, bool is_tied);

bool ti_race_may_send (const struct ti_race *self);

/* A tie needs room for both copies and for a re-issue if one of them is lost: without it, a lost
 * starter would leave the call with a doubtful copy only (ti_race_is_certain). */
bool ti_race_has_room_to_tie (const struct ti_race *self);

/* The same for a hedge, before anything is sent: of a call that will be tied or not. */
bool ti_race_has_room_to_hedge (const struct ti_race *self, bool is_tied);

/* There is room for the hedge and for a re-issue, whatever was sent or is planned. */
bool ti_race_may_hedge (const struct ti_race *self);

/* The next copy, which has to be sent right after, is the hedge. Precondition: it is planned, and
 * there was none. */
void ti_race_hedge (struct ti_race *self);

/* Both copies of a tie are there: one of them runs or will. */
bool ti_race_is_pair (const struct ti_race *self);

/* The hedge of a pair, the copy that was sent last, was never there: its number is free and it is
 * planned again. */
bool ti_race_may_unhedge (const struct ti_race *self, uint8_t copy);
void ti_race_unhedge (struct ti_race *self, uint8_t copy);

/* Some live copy will be answered unless its replica is lost. Of an exclusive call any live copy is
 * enough: it is worth waiting for until the deadline, since nothing may be sent in its place. The
 * opposite, a doubtful copy, is a tied one whose sibling was lost: the sibling may have started and
 * had this one dropped, of which a client learns nothing. It can win the call, but it cannot keep
 * it alive. */
bool ti_race_is_certain (const struct ti_race *self);

/* Retire a live copy. */
void ti_race_refused (struct ti_race *self, uint8_t copy, uint8_t reason);
void ti_race_lost (struct ti_race *self, uint8_t copy);
void ti_race_unsent (struct ti_race *self, uint8_t copy);
void ti_race_failed (struct ti_race *self, uint8_t copy);

/* What follows; to be asked once after the copies were retired, and again after a plan failed.
 * They change nothing. */
enum ti_race_next ti_race_after_refusal (const struct ti_race *self, uint8_t reason);
enum ti_race_next ti_race_after_loss (const struct ti_race *self);
enum ti_race_next ti_race_after_unsent (const struct ti_race *self);
enum ti_race_next ti_race_after_failure (const struct ti_race *self);

/* Outcome of a call that no copy is certain to answer: enum tied_outcome. */
uint32_t ti_race_outcome (const struct ti_race *self);

/* False only if every copy was definitely refused or never left. */
bool ti_race_may_have_executed (const struct ti_race *self);

/* At least one copy left this process. */
bool ti_race_has_left (const struct ti_race *self);

void ti_race_check (const struct ti_race *self);

#endif
