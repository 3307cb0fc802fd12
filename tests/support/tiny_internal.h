/* SPDX-License-Identifier: MIT */
/* What the files of the exploration (tiny.h) share: one state, the steps, the search. */
#ifndef TEST_TINY_INTERNAL_H
#define TEST_TINY_INTERNAL_H

#include "tiny.h"

#include <setjmp.h>

enum {
    CHANNEL_MAX = 10, /* messages under way in one direction */
    MESSAGE_MAX = 120,
    SLOTS = 2, /* queue_depth + workers */
    DEPTH_MAX = 256
};
#define START   TIED_S (1)
#define HORIZON TIED_S (600) /* no time-out at or after this happens */

/* Directions. */
enum channel {
    C_R0,
    C_R1,
    R0_C,
    R1_C,
    R0_R1,
    R1_R0,
    CHANNELS
};

enum message_kind {
    KIND_DATA,
    KIND_LINK_UP,
    KIND_LINK_DOWN
};

struct message {
    uint32_t generation;
    uint8_t kind;
    uint8_t type; /* enum tied_wire_type */
    uint8_t size;
    unsigned char bytes[MESSAGE_MAX];
};

struct channel_state {
    uint32_t count;
    struct message at[CHANNEL_MAX];
};

/* One state of the world, cores apart: they follow it in the block. */
struct state {
    tied_time_t now;
    tied_time_t stepped[3]; /* when client, r0, r1 took their last step */
    uint32_t generation[3]; /* connections c-r0, c-r1, r0-r1 */
    uint8_t is_connected[3];
    uint8_t is_alive[2];
    uint8_t running[2]; /* slot + 1; 0: the worker is free */
    uint8_t incarnations[2];
    uint8_t losses, repeats, crashes, restarts, silent_restarts, occupants, give_ups;
    struct channel_state channels[CHANNELS];
    struct node_client client;
    struct node_replica replicas[2];
    struct node_slot slots[2][SLOTS];
    struct ledger_call call;
};

/* Steps. Faults come last: a state in which only faults are possible is an end. */
enum step_code {
    STEP_DELIVER = 0, /* + channel */
    STEP_TAKE = STEP_DELIVER + CHANNELS,
    STEP_FINISH = STEP_TAKE + 2,
    STEP_TICK = STEP_FINISH + 2,
    STEP_FAULTS = STEP_TICK + 1,
    STEP_LOSE = STEP_FAULTS,
    STEP_REPEAT = STEP_LOSE + CHANNELS,
    STEP_CRASH = STEP_REPEAT + CHANNELS,
    STEP_CRASH_LOSING = STEP_CRASH + 2, /* and what it had sent is lost too */
    STEP_RESTART = STEP_CRASH_LOSING + 2,
    STEP_SILENT_RESTART = STEP_RESTART + 2,
    STEP_OCCUPY = STEP_SILENT_RESTART + 2,
    STEP_GIVE_UP = STEP_OCCUPY + 2,
    STEPS
};

struct explorer {
    const struct tiny_config *config;
    struct tiny_result *result;
    struct ledger ledger;
    struct node_net net;
    struct tied_client_core_options client_options;
    struct tied_replica_core_options replica_options;
    size_t state_size, client_size, replica_size, block_size;
    unsigned char *block; /* live: state, client core, two replica cores */
    unsigned char *stack; /* one block per depth */
    uint8_t next[DEPTH_MAX];
    uint8_t path[DEPTH_MAX];
    uint32_t depth;
    uint64_t *visited;
    uint64_t visited_mask;
    bool prints;
    jmp_buf on_assert;
};

struct state *tiny_live (struct explorer *self);
void tiny_on_note (void *context, const struct node_note *note);
bool tiny_on_send (void *context,
                   int from,
                   int to,
                   uint32_t generation,
                   const struct tied_message *message,
                   const void *data,
                   size_t size);
void tiny_on_run (void *context, int replica, uint32_t slot);
struct message *tiny_append (struct explorer *self, enum channel channel, enum message_kind kind);
void tiny_start_replica (struct explorer *self, int r);
void tiny_connect (struct explorer *self, int connection);
void tiny_deliver (struct explorer *self, enum channel channel, bool keeps);
bool tiny_is_possible (struct explorer *self, int code);
void tiny_apply (struct explorer *self, int code);

#endif
