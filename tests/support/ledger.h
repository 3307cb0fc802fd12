/* SPDX-License-Identifier: MIT */
/*
 * What must be true of every call, kept apart from the cores: the ledger reads the notes of the
 * drivers (node.h), keeps one plain record per call, and names the first rule that was broken. It
 * also collects marks: conditions that a good exploration has met at least once.
 */
#ifndef TEST_LEDGER_H
#define TEST_LEDGER_H

#include "node.h"

/* Epoch of client i; the sequence numbers of its calls count from 0. */
#define LEDGER_EPOCH(client) (UINT64_C (0x40) + (uint64_t)(client))

/* X (NAME, text) */
#define LEDGER_MARK_MAP(X)                                                                         \
    X (DROPPED, "a queued copy was dropped")                                                       \
    X (CANCEL_BEFORE_COPY, "the cancel came before the copy")                                      \
    X (BOTH_STARTED, "both started")                                                               \
    X (MERGED, "a re-issue merged")                                                                \
    X (REISSUE_PASSED, "a re-issue passed a tombstone")                                            \
    X (LAST_COPY, "both were refused, then the last copy was sent")                                \
    X (LAST_COPY_RAN, "a last copy ran")                                                           \
    X (UNTIED, "a refusal untied the sibling")                                                     \
    X (LATE_REPLY, "a late reply was discarded")                                                   \
    X (LATE_REJECT, "a late refusal was discarded")                                                \
    X (STARTER_CRASHED, "the starter crashed after STARTED")                                       \
    X (STALE, "a copy for an earlier incarnation was refused")                                     \
    X (EXPIRED, "a copy expired in the queue")                                                     \
    X (DEADLINE, "a call ended by its deadline")                                                   \
    X (CANCEL_QUEUED, "the client cancelled a queued copy")                                        \
    X (CANCEL_RUNNING, "the client cancelled a running copy")                                      \
    X (GIVEN_UP, "the application gave up")                                                        \
    X (REFUSED, "every copy was refused")                                                          \
    X (HEDGED, "a hedge was sent")                                                                 \
    X (HEDGE_REFUSED, "a hedge was refused")                                                       \
    X (HEDGE_WON, "a hedge won")                                                                   \
    X (TIED_HEDGED, "a tied call had three copies at once")                                        \
    X (STARTED_UNSENT, "a STARTED could not be sent")                                              \
    X (REPEATED, "a repeated copy was ignored")                                                    \
    X (CLIENT_FORGOTTEN, "a replica forgot a client")

#define LEDGER_MARK_ENUM_(name, text) LEDGER_MARK_##name,
enum ledger_mark {
    LEDGER_MARK_MAP (LEDGER_MARK_ENUM_) LEDGER_MARK_COUNT
};
#undef LEDGER_MARK_ENUM_

/* All masks have one bit per replica. */
struct ledger_call {
    tied_time_t submitted;
    tied_time_t deadline;
    tied_time_t ended;
    tied_time_t told_at;
    uint32_t sent_to;
    uint32_t repeatable; /* got more than one copy of this call */
    uint32_t freed; /* got a copy that no earlier STARTED binds: number 2 and up, or the last */
    uint32_t started_by; /* in any incarnation */
    uint32_t running;    /* runs it now */
    uint32_t told;       /* was told STARTED and has not crashed since */
    uint32_t cancelled;  /* was told CANCEL and has not crashed since */
    uint32_t refused;    /* rejected a copy */
    uint32_t last;       /* got the last copy */
    uint8_t pair[2];     /* replica + 1 of copies 0 and 1 */
    uint8_t copies;
    uint8_t starts;
    uint8_t finished;
    uint8_t completions;
    uint8_t outcome;
    uint8_t mode;
    uint8_t given_up;
    uint8_t surely_not_run;
    uint8_t may_hedge;
    uint8_t met;   /* hedges that were refused because the call was there */
    uint8_t hedge; /* number of the copy that is neither first, tied, nor in place of another */
};

struct ledger {
    struct ledger_call *calls;
    uint32_t clients, calls_per_client;
    tied_duration_t memory; /* replicas remember STARTED for so long */
    uint32_t forgetful;     /* replicas that had to forget something early */
    bool repeats;           /* the network may repeat messages */
    bool crashes;           /* some replica has crashed */
    bool is_stranger_about; /* messages that no driver sent may arrive */
    uint64_t completed, starts, duplicates;
    uint64_t started_lost;
    uint64_t
        hedges_met; /* that their clients know to have been refused because the call was there */
    uint64_t relieving, relieving_none; /* copies with RELIEF; of those, no copy had started */
    uint64_t outcomes[TIED_OUTCOME_COUNT];
    uint64_t marks[LEDGER_MARK_COUNT];
    char violation[192]; /* "" while all is well */
};

/* NULL for a call that is not ours. */
struct ledger_call *ledger_find (struct ledger *self, struct tied_call_id call);
void ledger_note (struct ledger *self, const struct node_note *note, tied_time_t now);
/* All calls have ended. `is_calm`: nothing was lost, nothing crashed, and no deadline was set. */
void ledger_end (struct ledger *self, bool is_calm);
/* Keeps the first violation. */
void ledger_violate (struct ledger *self, const char *what, struct tied_call_id call);
const char *ledger_mark_text (enum ledger_mark mark);

#endif
