/* SPDX-License-Identifier: MIT */
/*
 * The load generator of tied-client bench. Policies take turns in slices over the same seeded
 * arrivals; between slices all calls end, the replicas come to rest, and their counters are read,
 * so that what they did belongs to one policy.
 */
#ifndef TIED_CLIENT_BENCH_H
#define TIED_CLIENT_BENCH_H

#include "advice.h"
#include "app.h"
#include "base/prng.h"
#include "policy.h"
#include "replica_stats.h"
#include "tools/interrupt.h"
#include "tools/json.h"
#include "tools/recording.h"

/* Where one policy's figures are collected. */
struct bench_policy {
    struct policy policy;
    tied_client_t *client; /* its own: what it learned, saved up and stopped is the policy's */
    struct ti_report_policy *result;
    uint64_t service_ns;              /* time that handlers ran, as the replicas saw it */
    uint64_t measured_ns;             /* of its slices */
    struct tied_client_method method; /* see bench_method.c */
};

/* A call in flight. */
struct bench_call {
    tied_time_t intended; /* when it should have been sent */
    tied_duration_t lateness;
};

struct bench {
    const struct app *app;
    struct ti_report report;
    struct bench_policy policies[APP_POLICIES_MAX];
    uint32_t policies_count;
    struct replica_stats *before, *after;
    bool is_absent[APP_REPLICAS_MAX]; /* see replica_stats_read () */
    unsigned char *body;
    uint64_t next_key;        /* of the calls of this slice: the same for every policy */
    struct bench_call *calls; /* calls_max of them */
    uint32_t *calls_free;     /* numbers of those that are not in use */
    uint32_t calls_free_count;
    uint32_t calls_max;
    uint32_t in_flight;
    uint64_t total_ns, done_ns; /* of all slices, for the progress line */
    tied_time_t shown_at;
    struct ti_recording recording;
    struct advice_samples *samples;  /* where measured calls are kept one by one; NULL: nowhere */
    char remark[128];                /* see struct ti_report */
    uint64_t reloads, reload_errors; /* of the policy file, the first reading not counted */
};

/* Send one slice of load and wait for the end of every call. measured: keep the figures. 0, or an
   exit code after a line. */
int bench_slice (struct bench *self,
                 struct bench_policy *policy,
                 uint64_t seed,
                 tied_duration_t duration_ns,
                 bool is_measured);
/* Keep the clients that are not in use alive. */
void bench_idle (struct bench *self);

/* One slice of calls in shadow, one copy each, without a report. 0, or an exit code after a line.
 */
int bench_measure (const struct app *app, struct advice_samples *out);

/* bench_policies.c: SIGHUP asks for the policy file to be read anew, from now on. */
void bench_catch_reloads (const struct bench *self);
/* Read it into the policy's client. 0, or an exit code after a line; then nothing has changed. */
int bench_load_file (const struct bench *self, struct bench_policy *policy);
/* If it was asked for; one line says what came of it. */
void bench_reload (struct bench *self);
/* What the policy's calls are made with now. */
struct tied_policy bench_settings (const struct bench *self, const struct bench_policy *policy);
/* Into the report as JSON: the settings in use, what came of them, and how often they were read. */
void bench_report_settings (struct bench *self);

/* Read all counters when the replicas are at rest. */
void bench_read_rested (struct bench *self, struct replica_stats *out);
/* Add to the policy what the replicas did between before and after. */
void bench_attribute (struct bench *self, struct bench_policy *policy);

/* bench_report.c: the table, the sentence and the files. 0, or an exit code after a line. */
int bench_report (struct bench *self);
/* A measurement without a single answer, or without a call because it was interrupted, is none. 0,
   or an exit code after a line. */
int bench_check_answers (const struct bench *self);

/* Around a measured slice; and "method" of a policy, for the report. */
void bench_method_before (const struct bench *self, struct bench_policy *policy);
void bench_method_after (const struct bench *self, struct bench_policy *policy);
void bench_method_write (const void *context, struct ti_json *json, uint32_t index);

/* How much of the run is over, from 0 to 1. */
double bench_done (const struct bench *self);
/* One line on stderr: in place on a terminal, else one per slice. */
void bench_show (struct bench *self, const struct bench_policy *policy, tied_time_t now);
void bench_show_end (struct bench *self);

#endif
