/* SPDX-License-Identifier: MIT */
/*
 * Many calls of one client, each with a number of its own as body, and what must be true of all of
 * them: each ends exactly once, by its deadline, and an answer carries its own number back. Calls
 * go through the completion queue; the methods `work` and `echo` of tied-replica answer the body.
 */
#ifndef TIED_TEST_VOLLEY_H
#define TIED_TEST_VOLLEY_H

#include <stdint.h>

#include <tied/client.h>

/* How long after its deadline a call may end: scheduling of a crowded machine, not the protocol. */
#define VOLLEY_TICK TIED_S (5)

struct volley {
    tied_client_t *client;
    struct tied_call call; /* change mode, stagger_ns, timeout_ns before the first call */
    uint32_t count;        /* calls at most */
    uint32_t submitted;
    uint32_t collected;
    uint8_t *ends; /* [count] completions of each call */
    uint64_t outcomes[TIED_OUTCOME_COUNT];
    uint64_t copies;
    uint64_t both_ran;
    uint64_t reissued; /* calls that a copy above 1 won */
    struct tied_client_completion last;
};

/* Tied, idempotent, 10 s. */
void volley_init (struct volley *self, tied_client_t *client, const char *method, uint32_t count);
/* Begin the next call. */
void volley_submit (struct volley *self);
/* Wait up to timeout_ns for one completion and judge it. false: none came. */
bool volley_collect (struct volley *self, tied_duration_t timeout_ns);
/* Collect until all that were submitted have ended. */
void volley_finish (struct volley *self);
/* Keep `outstanding` calls going until `count` more were submitted. */
void volley_fire (struct volley *self, uint32_t count, uint32_t outstanding);
void volley_free (struct volley *self);

#endif
