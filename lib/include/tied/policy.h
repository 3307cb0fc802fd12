/* SPDX-License-Identifier: MIT */
/*
 * The settings of a method: which calls get a second copy, when, and what that may cost. Plain
 * values that can be copied; the core applies them (client_core.h), the file that they come from is
 * read elsewhere (docs/policy.md).
 *
 * One knob is enough for most methods: extra_load. The percentile that `auto` aims at, the budget
 * and its burst follow from the defaults.
 */
#ifndef TIED_POLICY_H
#define TIED_POLICY_H

#include <tied/error.h>
#include <tied/types.h>

TIED_BEGIN_DECLS

/* Shares are parts per million: 50 000 is 5 %. */
#define TIED_PPM 1000000u

/* Stagger from the measured delay, see struct tied_client_core_options. */
#define TIED_STAGGER_AUTO UINT64_MAX

#define TIED_HEDGE_TERMS_MAX 4
/* Longest text of a rule that tied_hedge_rule_print () writes, with its NUL. */
#define TIED_HEDGE_TEXT_MAX   128
#define TIED_POLICY_WAITS_MAX 8

enum tied_hedge_kind {
    TIED_HEDGE_RULE_NEVER = 0,
    TIED_HEDGE_RULE_MIN = 1, /* the least of the terms; one term alone is that, too */
    TIED_HEDGE_RULE_MAX = 2, /* the greatest of the terms */
    TIED_HEDGE_RULE_AUTO = 3 /* delay and share of calls that make the target percentile least
                                within extra_load: SingleR, Kaler, He and Elnikety, "Optimal Reissue
                                Policies for Reducing Tail Latency", SPAA 2017 */
};

struct tied_hedge_term {
    bool is_percentile;
    uint64_t value; /* nanoseconds, [0, 1 h]; or parts per million, [1, 999 999] */
};

/* `never | auto | TERM | min(TERM,TERM,...) | max(TERM,...)`; TERM: 50ms, p95, p99.9 */
struct tied_hedge_rule {
    uint32_t kind;  /* enum tied_hedge_kind */
    uint32_t count; /* terms in use: [1, TIED_HEDGE_TERMS_MAX] for MIN and MAX, else 0 */
    struct tied_hedge_term terms[TIED_HEDGE_TERMS_MAX];
};

/* Application errors from first to last, both included. */
struct tied_status_range {
    uint32_t first, last;
};

/*
 * When ties and hedges stop by themselves. Shares are of what happened in the last `window_ns`;
 * nothing is judged before `min_events`. A limit of 0 is never reached: that signal is off.
 */
struct tied_governor_limits {
    tied_duration_t window_ns; /* [10 ms, 1 h]; default 1 s */
    tied_duration_t hold_ns;   /* [0, 1 h] stopped for so long before it probes; doubles each time
                                  that the probe fails or that it is stopped again within 10 holds,
                                  up to 16 x; default 1 s */
    uint32_t min_events;       /* [1, 1 << 20]; default 50 */
    uint32_t rejected_ppm;     /* tied copies that were refused, of tied copies; stops ties; default
                                  50 % */
    uint32_t depth_milli;      /* copies that a replica holds, waiting and running, mean of
                                  what replicas report, in thousandths;
                                  default 0: off, since what is long depends on the workers */
    uint32_t error_ppm;        /* application errors of calls; default 50 % */
    uint32_t duplicate_ppm;    /* calls that ran twice, of tied calls; default 20 % */
    uint32_t win_ppm;          /* hedges that won, of hedges sent: less than this does not pay;
                                  default 1 % */
};

struct tied_policy {
    size_t struct_size;         /* set by tied_policy_init () */
    uint32_t mode;              /* enum tied_mode; default TIED */
    bool is_idempotent;         /* default false: undeclared means one copy, always */
    bool is_off;                /* kill switch: one copy, no hedge; default false */
    bool is_shadow;             /* decide and count, send nothing extra; default false */
    uint32_t canary_ppm;        /* [0, TIED_PPM] share of eligible calls that may get extra copies;
                                   default all */
    tied_duration_t stagger_ns; /* TIED_STAGGER_AUTO (default), or [0, 1 h] */
    struct tied_hedge_rule hedge;     /* default never */
    tied_duration_t hedge_floor_ns;   /* [0, ceiling]; default 500 us */
    tied_duration_t hedge_ceiling_ns; /* [floor, 1 h]; default 10 s */
    tied_duration_t hedge_initial_ns; /* [floor, ceiling], or TIED_NEVER: what a percentile or auto
                                         is while there are fewer than min_samples; default
                                         100 ms */
    uint32_t min_samples;             /* [1, 1 << 20] finished calls in the window; default 100 */
    uint32_t target_ppm; /* [500 000, 999 999] percentile that auto makes small; default p99.9 */
    uint32_t extra_load_ppm; /* [0, TIED_PPM] copies beyond the first, of calls; default 5 % */
    uint32_t burst_milli;    /* [1000, 1 << 30] most that the budget saves up, thousandths of a
                                copy; default 10 copies */
    uint32_t debt_milli;     /* [0, 1 << 30] how far re-issues after a loss and last tries may
                                overdraw it; default 1000 copies */
    tied_duration_t min_remaining_ns; /* [0, 1 h] no further copy with less time left; default 0:
                                         the client's */
    struct tied_governor_limits governor;
    bool is_governed;                                      /* default true */
    uint32_t waits_count;                                  /* [0, TIED_POLICY_WAITS_MAX] */
    struct tied_status_range waits[TIED_POLICY_WAITS_MAX]; /* application errors that do not end the
                                    call while another copy may answer; default: none */
};

/**
 * Fill a policy with the defaults.
 *
 * @param policy  written whole
 *
 * Ownership: borrows.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: yes.
 * On error: cannot fail.
 */
TIED_EXPORT void tied_policy_init (struct tied_policy *policy);

/**
 * Check every field against its range.
 *
 * @param out_field  if not NULL: name of the first bad field, a static string; written on error
 * @return 0, TIED_ERR_INVAL
 *
 * Ownership: borrows.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: yes.
 * On error: nothing else is touched.
 */
TIED_EXPORT TIED_NODISCARD int tied_policy_check (const struct tied_policy *policy,
                                                  const char **out_field);

/**
 * Read a hedge rule. Integers and decimal fractions only: nan, inf, signs and exponents are
 * refused [BE-03].
 *
 * @param text  `never | auto | TERM | min(TERM,...) | max(TERM,...)`, see struct tied_hedge_rule;
 * units ns, us, ms, s, m
 * @param out     written on success
 * @param out_at  if not NULL: on error, offset of the first byte that does not fit
 * @return 0, TIED_ERR_INVAL
 *
 * Ownership: borrows.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: yes.
 * On error: *out is unchanged.
 */
TIED_EXPORT TIED_NODISCARD int
tied_hedge_rule_parse (const char *text, struct tied_hedge_rule *out, size_t *out_at);

/**
 * Write a rule as tied_hedge_rule_parse () reads it.
 *
 * @param buffer  capacity bytes; TIED_HEDGE_TEXT_MAX is always enough
 * @return length without the NUL; TIED_ERR_INVAL (no valid rule), TIED_ERR_TOOBIG
 *
 * Ownership: borrows.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: yes.
 * On error: the buffer holds an empty string, if it has room for one.
 */
TIED_EXPORT TIED_NODISCARD int
tied_hedge_rule_print (const struct tied_hedge_rule *rule, char *buffer, size_t capacity);

TIED_END_DECLS

#endif
