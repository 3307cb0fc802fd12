/* SPDX-License-Identifier: MIT */
/* What the files of the exploration (duel.h) share: a state, and its steps. */
#ifndef TEST_DUEL_INTERNAL_H
#define TEST_DUEL_INTERNAL_H

#include "duel.h"

#include <tied/wire.h>

#define DUEL_MESSAGES_MAX 80
#define DUEL_START        TIED_S (1)
#define DUEL_HORIZON      TIED_S (60)

/* Where a message goes: replica 0 (owner), replica 1 (claimant), the client. */
enum {
    TO_CLIENT = 2
};

/* One that was sent; it stays. */
struct duel_message {
    uint8_t type; /* enum tied_wire_type */
    uint8_t to;
    uint8_t copy;
    uint8_t instance;         /* REQUEST, CLAIM: whom it is meant for */
    uint8_t sibling_instance; /* REQUEST */
    uint8_t reason;           /* REJECT */
    uint8_t flags;            /* REQUEST */
    uint8_t unused;
    uint64_t time_us; /* CLAIM: age; REQUEST: when it was sent */
};

struct duel_state {
    tied_time_t now;
    uint32_t count;
    uint8_t instance[2];
    uint8_t running[2]; /* slot + 1; 0: none */
    uint8_t executions;
    uint8_t finished;
    uint8_t refused; /* bit of each copy whose definite refusal the client has */
    uint8_t has_sent_again;
    uint8_t has_given_up;
    uint8_t ticks;
    uint32_t marks; /* no part of the state */
    struct duel_message messages[DUEL_MESSAGES_MAX];
};

/* Steps by number. */
enum {
    STEP_DELIVER = 0,
    STEP_REFUSE = STEP_DELIVER + DUEL_MESSAGES_MAX, /* a REQUEST that finds no room */
    STEP_TAKE = STEP_REFUSE + DUEL_MESSAGES_MAX,
    STEP_FINISH = STEP_TAKE + 2,
    STEP_AGAIN = STEP_FINISH + 2, /* the client's further copy */
    STEP_GIVE_UP = STEP_AGAIN + 2,
    STEP_TICK = STEP_GIVE_UP + 1,
    STEP_RESTART = STEP_TICK + 2,
    STEPS = STEP_RESTART + 2
};

struct duel {
    const struct duel_config *config;
    struct duel_state *state; /* the live block: state, two cores */
    tied_replica_core_t *cores[2];
    struct tied_replica_core_options options;
    size_t state_size, core_size, block_size;
    unsigned char *spare; /* a core, for DUEL_FORGET_REFUSAL */
    bool prints;
};

void duel_begin (struct duel *self);
bool duel_is_possible (const struct duel *self, int step);
void duel_apply (struct duel *self, int step);
uint64_t duel_hash (const struct duel *self);

#endif
