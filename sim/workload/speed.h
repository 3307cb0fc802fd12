/* SPDX-License-Identifier: MIT */
/*
 * How fast each replica works as time passes: a timeline of segments, made as it is needed from the
 * scenario's speeds, slow replicas, changes and pauses (speed 0). One mechanism for all of them.
 *
 * Pauses that never overlap are laid out in frames: each frame has one slot for every replica, in
 * an order drawn for the frame, and a replica pauses in its slot with the probability that gives
 * the mean gap. Where the pauses of all replicas do not fit one after the other, each replica
 * pauses once in every frame, which is less often than asked for.
 */
#ifndef SIM_SPEED_H
#define SIM_SPEED_H

#include "scenario/scenario.h"

struct sim_speed;

/* NULL: no memory. The replicas are borrowed. */
struct sim_speed *sim_speed_new (const struct sim_replicas *replicas, uint64_t seed);
void sim_speed_free (struct sim_speed *self);

/*
 * When work that starts at `start` and takes `demand_ns` at speed 1 is done, to the nearest ns.
 * Starts of one replica do not fall. A replica of constant speed 1 gives start + demand_ns exactly.
 * TIED_NEVER: it always pauses.
 */
tied_time_t
sim_speed_finish (struct sim_speed *self, uint32_t replica, tied_time_t start, uint64_t demand_ns);

/* Mean speed of a replica over time, pauses included: 1 for a plain one. */
double sim_speed_mean (const struct sim_replicas *replicas, uint32_t replica);
/* The same for all replicas together: the sum of their means. */
double sim_speed_sum (const struct sim_replicas *replicas);

#endif
