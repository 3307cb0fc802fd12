/* SPDX-License-Identifier: MIT */
/*
 * Pauses of replicas, one after the other: with exponential gaps, in slots so that no two replicas
 * pause at once, or from a log. A cursor stands at the pause that ends after a time and can be
 * copied to look ahead; nothing is stored.
 */
#ifndef SIM_PAUSES_H
#define SIM_PAUSES_H

#include "scenario/scenario.h"

enum sim_pauses_kind {
    SIM_PAUSES_NONE = 0,
    SIM_PAUSES_EXPONENTIAL,
    SIM_PAUSES_SLOTS
};

/* What all replicas share. */
struct sim_pauses {
    enum sim_pauses_kind kind;
    struct ti_pause pause;
    uint64_t seed;
    uint32_t replicas;    /* that pause by themselves: zones, where whole zones do */
    uint64_t slot_ns;     /* SLOTS: one replica's share of a frame */
    double slot_share;    /* SLOTS: of the slots that have a pause */
    struct ti_pause *log; /* here gap_ns is the start in the log; in order, apart from each other */
    uint64_t log_count;   /* 0: no log */
    uint64_t log_period_ns; /* the log repeats after this */
    uint64_t log_length_ns; /* of all pauses in it */
};

/* A pause of one replica: [begin, end). */
struct sim_pause_cursor {
    uint32_t replica;
    bool is_log;
    uint64_t next; /* number of the pause, frame, or entry of the log after this one */
    uint64_t lap;  /* of the log, where the next one lies */
    tied_time_t begin, end;
};

/* false: no memory */
bool sim_pauses_init (struct sim_pauses *self, const struct sim_replicas *replicas, uint64_t seed);
void sim_pauses_deinit (struct sim_pauses *self);
/* Share of the time that a replica does not pause. */
double sim_pauses_working_share (const struct sim_pauses *self);

/* The first pause of a replica from the pauses drawn, or from the log; begin is TIED_NEVER: none.
 */
void sim_pauses_first (const struct sim_pauses *self,
                       uint32_t replica,
                       bool is_log,
                       struct sim_pause_cursor *out);
/* The first pause that ends after `at`, from the cursor on. */
void sim_pauses_seek (const struct sim_pauses *self,
                      struct sim_pause_cursor *cursor,
                      tied_time_t at);

#endif
