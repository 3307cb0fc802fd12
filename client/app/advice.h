/* SPDX-License-Identifier: MIT */
/*
 * Whether a second copy pays for a method, from what its calls took with one copy: a hedge, a tie,
 * both, or neither, with the gain to expect, what it costs, and the reason when the answer is no. A
 * pure function of the samples; who measures and who prints are elsewhere (advise.c).
 *
 * What is assumed: a hedge takes as long as any call (SingleR, core/single_r.h), and a tied call
 * waits for the shorter of two queues that know nothing of each other. Both flatter where slowness
 * follows the request, or comes to all replicas at once.
 */
#ifndef TIED_CLIENT_ADVICE_H
#define TIED_CLIENT_ADVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tied/policy.h>

/* More are counted and not kept. */
#define ADVICE_SAMPLES_MAX ((uint32_t)1 << 20)
/* Ten of them beyond the percentile. */
#define ADVICE_P99_SAMPLES   1000u
#define ADVICE_P99_9_SAMPLES 10000u

/* An answered call that had one copy. */
struct advice_sample {
    uint64_t latency_ns;
    uint64_t queue_ns; /* of that, in the queue of its replica */
};

struct advice_samples {
    struct advice_sample *items;
    uint32_t count, capacity;
    uint64_t dropped; /* beyond ADVICE_SAMPLES_MAX */
    uint64_t failed;  /* calls that nobody answered */
};

/* 0, TIED_ERR_NOMEM. */
TIED_NODISCARD int
advice_samples_add (struct advice_samples *self, uint64_t latency_ns, uint64_t queue_ns);
void advice_samples_deinit (struct advice_samples *self);

/* May the method run twice? */
enum advice_declared {
    ADVICE_UNKNOWN = 0,
    ADVICE_NO,
    ADVICE_YES
};

/* X (name, number, word) */
#define ADVICE_VERDICT_MAP(X)                                                                      \
    X (NEITHER, 0, "neither")                                                                      \
    X (TIE, 1, "tie")                                                                              \
    X (HEDGE, 2, "hedge")                                                                          \
    X (TIE_AND_HEDGE, 3, "tie and hedge")
#define ADVICE_REASON_MAP(X)                                                                       \
    X (NONE, 0, "none")                                                                            \
    X (FEW_SAMPLES, 1, "few_samples")       /* fewer than ADVICE_P99_SAMPLES */                    \
    X (FAILING, 2, "failing")               /* too many calls are not answered at all */           \
    X (NO_BENEFIT, 3, "no_benefit")         /* nothing gains 5 % at the target */                  \
    X (NOT_IDEMPOTENT, 4, "not_idempotent") /* it would gain, and must not run twice */            \
    X (NOT_DECLARED, 5, "not_declared")     /* it would gain, if it may run twice */

#define ADVICE_VERDICT_(name, number, word) ADVICE_##name = (number),
enum advice_verdict {
    ADVICE_VERDICT_MAP (ADVICE_VERDICT_)
};
#undef ADVICE_VERDICT_
#define ADVICE_REASON_(name, number, word) ADVICE_##name = (number),
enum advice_reason {
    ADVICE_REASON_MAP (ADVICE_REASON_)
};
#undef ADVICE_REASON_

struct advice_question {
    const struct advice_samples *samples;
    uint32_t extra_load_ppm;
    enum advice_declared declared;
};

struct advice_gain {
    uint32_t ppm;
    uint64_t without_ns, with_ns;
};

struct advice {
    enum advice_verdict verdict;
    enum advice_reason reason;          /* NONE, or why the verdict is NEITHER */
    enum advice_verdict would;          /* what would gain: the verdict, but for the declaration */
    uint32_t target_ppm;                /* p99.9, or p99 if the samples bear no more */
    struct advice_gain p50, p99, p99_9; /* with what would gain; p99_9: 0 if not known */
    uint32_t extra_ppm;                 /* executions beyond one, of calls */
    uint64_t delay_ns;                  /* of the hedge; TIED_NEVER: none */
    uint64_t benefit_ns;                /* what a hedge saves on average; TIED_NEVER: not known */
    uint32_t waiting_ppm;               /* of the time of the slowest 1 % of calls: in a queue */
    struct tied_policy policy; /* to be proposed; NEITHER: of what would gain, if anything */
};

/* 0, TIED_ERR_NOMEM. */
TIED_NODISCARD int advice_give (const struct advice_question *question, struct advice *out);

const char *advice_verdict_name (enum advice_verdict verdict);
const char *advice_reason_name (enum advice_reason reason);

#endif
