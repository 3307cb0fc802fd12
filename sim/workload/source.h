/* SPDX-License-Identifier: MIT */
/*
 * Where requests come from and where they end: arrivals, the client that each request goes to, fan-
 * out, warm-up and cool-down, and the latency histogram. Both engines (world, reference) pull
 * requests from it and tell it when a call ends; what is measured is decided here alone.
 *
 * Requests are numbered from 0. Call numbers are request x fan_out + leaf. Requests number
 * [warm_up, warm_up + calls) are measured, by arrival, and run until they end.
 */
#ifndef SIM_SOURCE_H
#define SIM_SOURCE_H

#include "scenario/scenario.h"
#include "study/result.h"

/* Nothing arrives before: links can greet first. Arrivals count from here. */
#define SIM_SOURCE_START_NS TIED_S (1)

struct sim_source;

struct sim_request {
    tied_time_t at;      /* intended time; latency counts from here */
    uint64_t first_call; /* its calls are first_call .. first_call + fan_out - 1 */
    uint32_t client;     /* of all its calls */
};

/* NULL: no memory, or no request can be offered (rate 0, an empty table of times, no users). The
 * scenario is borrowed. Of the result only those fields are touched that finish () names, and the
 * histogram. */
struct sim_source *
sim_source_new (const struct sim_scenario *scenario, uint64_t seed, struct sim_result *result);
void sim_source_free (struct sim_source *self);

/* Time of the next request, TIED_NEVER: none until a call ends, or no more. */
tied_time_t sim_source_time (const struct sim_source *self);
/* Takes the next request; there is one, and its time is not earlier than any time told before. */
void sim_source_take (struct sim_source *self, struct sim_request *out);
/* The same in two steps, open loads only: what comes may be drawn long before it counts. What
 * counts does so at its time, between the ends; two of the same time count in any order. */
void sim_source_draw (struct sim_source *self, struct sim_request *out);
void sim_source_count (struct sim_source *self, const struct sim_request *request);
/* A call has ended, once for each. Closed loops offer the next request of the same user from now
 * on when its request has ended. */
void sim_source_ended (struct sim_source *self, uint64_t call, uint32_t outcome, tied_time_t now);
/* All calls of all measured requests have ended: no further one would change the result. */
bool sim_source_is_done (const struct sim_source *self);
/* The request of this call is measured: count its copies and executions. */
bool sim_source_is_measured (const struct sim_source *self, uint64_t call);
/* Writes what it counted into the result: latency_sum_ns, requests, calls, outcomes, all_calls,
 * all_requests, cut_requests, span_ns, backlog_first and _last, is_unstable. */
void sim_source_finish (struct sim_source *self, tied_time_t now);

#endif
