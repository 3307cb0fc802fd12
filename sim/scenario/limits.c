/* SPDX-License-Identifier: MIT */
/* Limits between the values of a scenario; see limits.h. */
#include "limits.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/util.h"

/* Each link comes up by an event, and the heap of events has room for twice as many. */
#define LINKS_MAX (UINT64_C (1) << 22)
#define HOSTS_MAX (UINT64_C (1) << 20) /* workers, all replicas together */
/* Of these under way at once the queue of events has room for twice as many. */
#define FLYING_MAX 4e6
/* A heartbeat takes some 200 ns, and so does a change of speed: beyond this a replication is many
 * minutes of nothing else. */
#define BEATS_MAX   2e9
#define CHANGES_MAX 2e9
/* Some hours. */
#define CALLS_MAX 1e10
/* Virtual time is 64 bits of nanoseconds, 584 years; what is still open at the end needs some. */
#define SPAN_MAX_NS 3e18
#define YEAR_NS     3.15576e16

static bool refuse (struct sim_wrong *out, const char *path, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));

static bool refuse (struct sim_wrong *out, const char *path, const char *format, ...)
{
    va_list args;
    va_start (args, format);
    (void)snprintf (out->path, sizeof out->path, "%s", path);
    (void)vsnprintf (out->text, sizeof out->text, format, args);
    va_end (args);
    return true;
}

/* Replicas that a client knows. */
static uint32_t known (const struct sim_scenario *self)
{
    const struct sim_replicas *r = &self->replicas;
    return r->subset > 0 ? (uint32_t)ti_min (r->subset, r->count) : r->count;
}

bool sim_scenario_is_wrong (const struct sim_scenario *self, struct sim_wrong *out)
{
    const struct sim_replicas *r = &self->replicas;
    if (r->count < 1 || r->count > SIM_REPLICAS_MAX)
        return refuse (out, "replicas.count", "%u is out of range: give 1 to %d", r->count,
                       SIM_REPLICAS_MAX);
    if (r->workers < 1 || r->workers > SIM_WORKERS_MAX)
        return refuse (out, "replicas.workers", "%u is out of range: give 1 to %u", r->workers,
                       SIM_WORKERS_MAX);
    if (self->clients < 1 || self->clients > SIM_CLIENTS_MAX)
        return refuse (out, "clients", "%u is out of range: give 1 to %d", self->clients,
                       SIM_CLIENTS_MAX);
    if (self->amount.calls < 1)
        return refuse (out, "amount.calls", "is 0: at least one request must be measured");
    if (r->subset > r->count)
        return refuse (out, "replicas.subset", "%u of %u replicas", r->subset, r->count);
    if (r->subset && (r->count + r->subset - 1) / r->subset > self->clients)
        return refuse (out, "replicas.subset",
                       "%u groups but %u clients: some groups would have none",
                       (r->count + r->subset - 1) / r->subset, self->clients);
    return false;
}

static bool sends_copies (enum sim_policy_kind kind)
{
    return sim_policy_is_tie (kind) || kind == SIM_POLICY_HEDGE || kind == SIM_POLICY_CLONE;
}

/* What goes through the cores. */
static bool is_core_wrong (const struct sim_scenario *self,
                           const struct sim_policy *policy,
                           struct sim_wrong *out)
{
    if (known (self) > SIM_KNOWN_MAX)
        return refuse (out, "replicas", "a client knows at most %u replicas: give subset",
                       SIM_KNOWN_MAX);
    if ((uint64_t)known (self) * self->clients > LINKS_MAX)
        return refuse (out, "clients",
                       "more than %llu links between clients and replicas: lower it, or give "
                       "replicas.subset",
                       (unsigned long long)LINKS_MAX);
    if ((uint64_t)self->replicas.count * self->replicas.workers > HOSTS_MAX)
        return refuse (out, "replicas.workers", "more than %llu of all replicas together: lower it",
                       (unsigned long long)HOSTS_MAX);
    if (sends_copies (policy->kind) && known (self) < 2)
        return refuse (out, "replicas", "a second copy needs a second replica");
    if (policy->pick == TIED_PICK_AFFINITY && self->workload.keys.count == 0)
        return refuse (out, "keys", "policy %.40s chooses by them: give keys.count", policy->name);
    return false;
}

static bool is_reference_wrong (const struct sim_scenario *self,
                                const struct sim_policy *policy,
                                uint32_t index,
                                struct sim_wrong *out)
{
    char path[SIM_WRONG_PATH_MAX];
    bool has_d = policy->kind == SIM_POLICY_JSQ || policy->kind == SIM_POLICY_IDEAL_COS ||
                 policy->kind == SIM_POLICY_IDEAL_COC;
    (void)snprintf (path, sizeof path, "policies[%u]", index);
    if (has_d && policy->d > self->replicas.count)
        return refuse (out, path, "d is %u, but there are %u replicas", policy->d,
                       self->replicas.count);
    return false;
}

bool sim_policy_is_wrong (const struct sim_scenario *self, uint32_t index, struct sim_wrong *out)
{
    const struct sim_policy *policy = &self->policies[index];
    if (sim_policy_is_reference (policy->kind))
        return is_reference_wrong (self, policy, index, out);
    return is_core_wrong (self, policy, out);
}

/* Requests of one replication. */
static double requests (const struct sim_scenario *self)
{
    return (double)self->amount.calls * (1 + self->amount.warm_up + self->amount.cool_down);
}

/* Virtual time that a replication takes at least: until the requests have come, and until the work
 * that they bring is done, copies left out. */
static double span_ns (const struct sim_scenario *self)
{
    const struct sim_workload *w = &self->workload;
    double mean = fmin (sim_scenario_mean_service_ns (self), (double)TI_DIST_MAX_NS);
    double work = requests (self) * w->fan_out * mean, rate = sim_scenario_rate_per_s (self);
    double coming = rate > 0 ? requests (self) / rate * 1e9 : 0;
    if (w->arrivals == SIM_ARRIVALS_CLOSED && w->users > 0)
        coming = requests (self) * ti_dist_mean (&w->think) / w->users;
    return fmax (coming, work / sim_scenario_capacity (self));
}

/* Segments of constant speed, all replicas together. */
static double changes (const struct sim_replicas *r, double span)
{
    double per_ns = 0;
    if (r->vary_ns > 0)
        per_ns += 1 / (double)r->vary_ns;
    if (r->pause.gap_ns > 0)
        per_ns += 2 / ((double)r->pause.gap_ns + (double)r->pause.length_ns);
    return per_ns * span * r->count;
}

static bool
has_too_many_heartbeats (const struct sim_scenario *self, double span, struct sim_wrong *out)
{
    const struct sim_delay *delay = &self->network.client;
    const double per_ns = (double)known (self) * (double)self->clients / (double)self->heartbeat_ns;
    const double flying =
        per_ns * ((double)delay->fixed_ns + (delay->has_extra ? ti_dist_mean (&delay->extra) : 0));
    if (flying > FLYING_MAX)
        return refuse (out, "heartbeat",
                       "%.3g would be under way at once, more than %.3g: raise it, or lower "
                       "network delays, clients or replicas",
                       flying, FLYING_MAX);
    if (span * per_ns > BEATS_MAX)
        return refuse (out, "heartbeat",
                       "%.3g would be sent in a replication, more than %.3g: raise heartbeat or "
                       "load, or lower calls or what they take",
                       span * per_ns, BEATS_MAX);
    return false;
}

/* What the network does that a policy has no answer to. */
static bool
is_network_wrong (const struct sim_scenario *self, bool is_reference, struct sim_wrong *out)
{
    const struct sim_network *network = &self->network;
    if (is_reference && network->loss > 0)
        return refuse (out, "network.loss",
                       "%g: reference policies know no lost message: set it to 0, or leave the "
                       "policy out",
                       network->loss);
    if (is_reference && network->break_gap_ns > 0)
        return refuse (out, "network.breaks",
                       "reference policies know no connections: leave out the breaks, or the "
                       "policy");
    if (is_reference && self->replicas.crash_gap_ns > 0)
        return refuse (
            out, "replicas.crash",
            "reference policies know no replica that dies: leave out the crashes, or the "
            "policy");
    if (network->loss > 0 && self->workload.deadline_ns == TIED_NEVER)
        return refuse (out, "network.loss",
                       "needs a deadline: nothing else ends a call whose request is lost");
    return false;
}

bool sim_policy_cannot_run (const struct sim_scenario *self, uint32_t index, struct sim_wrong *out)
{
    const bool is_reference = sim_policy_is_reference (self->policies[index].kind);
    const double calls = requests (self) * self->workload.fan_out;
    const double span = span_ns (self);
    if (is_network_wrong (self, is_reference, out))
        return true;
    if (calls > CALLS_MAX)
        return refuse (out, "amount.calls",
                       "%.3g calls in a replication, more than %.3g: lower calls or fan_out", calls,
                       CALLS_MAX);
    if (!is_reference && has_too_many_heartbeats (self, span, out))
        return true;
    if (!(span <= SPAN_MAX_NS))
        return refuse (out, "amount.calls",
                       "a replication takes %.3g years of virtual time, more than %.3g: raise load "
                       "or speeds, or lower calls or what they take",
                       span / YEAR_NS, SPAN_MAX_NS / YEAR_NS);
    if (changes (&self->replicas, span) > CHANGES_MAX)
        return refuse (out, "replicas",
                       "%.3g pauses and changes of speed in a replication, more than %.3g: make "
                       "pause or vary rarer or milder, or lower calls",
                       changes (&self->replicas, span), CHANGES_MAX);
    return false;
}
