/* SPDX-License-Identifier: MIT */
/*
 * What a run of several policies measured, as one value, and the three ways to write it down: JSON
 * (docs/json.md), a text table, and one self-contained HTML page. Only counts and histograms are
 * kept here; every ratio is computed when it is written, so that no two writers can disagree.
 */
#ifndef TI_REPORT_H
#define TI_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/hist.h"

#include <tied/export.h>
#include <tied/types.h>

#define TI_REPORT_SCHEMA       1
#define TI_REPORT_POLICIES_MAX 512
#define TI_REPORT_FIGURES_MAX  8

struct ti_json;

/* Further fields that a program adds to the JSON report; each may be NULL. `index` is a policy's.
 */
struct ti_report_more {
    const void *context;
    void (*top) (const void *context, struct ti_json *json);
    void (*policy) (const void *context, struct ti_json *json, uint32_t index);
    void (*cancels) (const void *context, struct ti_json *json, uint32_t index);
};

/* A policy, or one of its points: the same policy at another load is an entry of its own. */
struct ti_report_policy {
    const char *policy;      /* "single", "tied" */
    double load;             /* offered work / capacity of all workers; negative: not known */
    uint64_t calls;          /* that have ended: the sum of outcomes */
    struct ti_hist *latency; /* ns, of the calls that a replica answered (ok, app_error) */
    bool is_borrowed;        /* the histogram is not the report's to free */
    /* Figures that are not those of the histogram, such as means over replications; TI_HIST_ALL is
     * the largest value. */
    struct {
        uint32_t ppm;
        uint64_t ns;
    } figures[TI_REPORT_FIGURES_MAX];
    uint32_t figures_count;
    bool is_unstable;    /* its queue grew without end: percentiles mean nothing, none is shown */
    uint64_t copies;     /* sent by the client */
    uint64_t executions; /* handlers started, as the replicas saw it */
    uint64_t duplicates; /* calls executed twice, as the replicas saw it */
    uint64_t outcomes[TIED_OUTCOME_COUNT];
    struct {
        uint64_t sent;      /* STARTED that replicas sent to siblings */
        uint64_t effective; /* of those, removed a copy that waited in a queue */
        uint64_t early;     /* came before the copy, which is turned away if it comes */
        uint64_t late;      /* came when the copy ran or had run: a duplicate execution */
    } cancels;
    uint64_t not_sent[TIED_NOT_SENT_COUNT]; /* [NONE] is not written */
    uint64_t lateness_max_ns; /* latest that the generator sent a call after its intended time */
};

struct ti_report {
    const char *program;  /* "tied-client bench" */
    const char *command;  /* the whole command line, for a person; may be NULL */
    const char *service;  /* what the replicas do: "sleep:exp(10ms)"; NULL: not known */
    const char *arrivals; /* "poisson" or "closed" */
    double rate;          /* calls per second of each policy; 0: closed loop */
    uint32_t outstanding; /* closed loop: calls at once; 0: open loop */
    uint32_t replicas;
    uint32_t workers;     /* per replica; 0: not known */
    uint64_t duration_ns; /* of each policy */
    uint64_t seed;
    uint64_t started_unix_s; /* 0: not known */
    const char *sentence;    /* instead of the report's own; NULL: none */
    const char *remark;    /* a note of the program's own: what is odd about this run; NULL: none */
    uint32_t looks_missed; /* a replica was asked what it ran and did not answer */
    struct ti_report_more more;
    uint32_t policies_count;
    struct ti_report_policy policies[TI_REPORT_POLICIES_MAX];
};

/* All zero, no policies. Strings given to a report are borrowed until it is deinitialised. */
void ti_report_init (struct ti_report *self);
/* Frees the histograms. */
void ti_report_deinit (struct ti_report *self);
/* The next policy with an empty histogram; NULL: TI_REPORT_POLICIES_MAX, or out of memory. */
struct ti_report_policy *ti_report_add (struct ti_report *self, const char *policy);
/* The same with a histogram of the caller's, which must live as long as the report. */
struct ti_report_policy *
ti_report_add_of (struct ti_report *self, const char *policy, struct ti_hist *latency);
/* A histogram as a policy has it: 1 ns to 1 h, error below 0.8 %; free () it. NULL: no memory. */
struct ti_hist *ti_report_hist_new (void);

/* The percentile that every writer shows; TI_HIST_ALL: the largest value. */
uint64_t ti_report_percentile (const struct ti_report_policy *policy, uint32_t ppm);
/* Whether that says anything: calls were answered, and their latency is not that of a queue which
 * grows without end. */
bool ti_report_has_latency (const struct ti_report_policy *policy);
/* x / calls; 0 without calls. */
double ti_report_per_call (const struct ti_report_policy *policy, uint64_t x);

/* @return 0, TIED_ERR_SYSTEM (a write failed; see errno) */
TIED_NODISCARD int ti_report_write_json (const struct ti_report *self, FILE *file);
TIED_NODISCARD int ti_report_write_table (const struct ti_report *self, FILE *file);
TIED_NODISCARD int ti_report_write_html (const struct ti_report *self, FILE *file);
/* As ti_save (). @return 0, TIED_ERR_SYSTEM (see errno; path is unchanged) */
TIED_NODISCARD int ti_report_save (const struct ti_report *self,
                                   int (*writer) (const struct ti_report *self, FILE *file),
                                   const char *path);

#define TI_REPORT_SENTENCE_MAX 512
/*
 * One sentence without newline: what the other policy gained over the one named "single" (or else
 * the first), and what it cost. Of several others it speaks of the one with the lowest p99. A
 * report that has a sentence of its own gives that.
 * @return buffer
 */
const char *ti_report_sentence (const struct ti_report *self, char buffer[TI_REPORT_SENTENCE_MAX]);

/* One point of a distribution: `share` of the calls took `ns` or less. */
struct ti_report_point {
    double share;
    uint64_t ns;
};
#define TI_REPORT_POINTS_MAX 256
/*
 * The distribution at points evenly spaced on log (1 / (1 - share)), the same for every histogram,
 * as far as its number of samples reaches; the last one is the largest sample at share 1.
 * @return how many; 0 when empty
 */
uint32_t ti_report_distribution (const struct ti_hist *latency,
                                 struct ti_report_point points[TI_REPORT_POINTS_MAX]);

#endif
