/* SPDX-License-Identifier: MIT */
/*
 * Policies as people write them in one word: the grammar of the load tool and of the simulator.
 *
 *     WORD[(D)][:STAGGER][+hedge:RULE[@SHARE]][/PART]...
 *
 * A RULE is one of <tied/policy.h>: 10ms, p95, min(p99,50ms), auto... A SHARE is extra_load, the
 * hedges that calls pay for, "5%". A PART is a way to pick replicas, governed or ungoverned, the
 * delay of a hedge that a program makes itself, or keep. A word says which of these may follow it;
 * the library's modes are words everywhere, and a program may add others. What a policy is made of
 * is all that is known here: not whether a program can run it.
 *
 * A rule that says its delay is taken at its word: no floor, no budget (100 %) and no governor,
 * unless they are given. One that learns has the library's defaults: 5 %, governed.
 *
 * To extend it: a mode is a row of TIED_MODE_MAP and of `modes` in policy_text.c; a way to pick is
 * a word in ti_pick_words; a delay of a hedge is a kind in ti_hedge_parse ().
 */
#ifndef TI_POLICY_TEXT_H
#define TI_POLICY_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include <tied/client_core.h>

#include "tools/cli.h"

/* Bytes of a policy with its NUL. */
#define TI_POLICY_TEXT_MAX 48
/* Of a stagger, and of the delay of a hedge: as the library bounds them. */
#define TI_POLICY_DELAY_MAX TIED_S (3600)
/* Of D. */
#define TI_POLICY_D_MAX 64

/* The numbers are those of enum tied_pick; ends with NULL. */
extern const char *const ti_pick_words[];
/* How replicas are picked unless something else is said (enum tied_pick): a tie looks where load is
 * low, a single copy goes anywhere, as a client without load reports has it. */
uint32_t ti_pick_default (bool is_tied);

/* When a hedge is sent whose delay a program knows or finds before it begins. */
enum ti_hedge_kind {
    TI_HEDGE_NONE = 0,
    TI_HEDGE_AFTER,     /* a duration */
    TI_HEDGE_PERCENTILE /* of the latency without a hedge */
};

struct ti_hedge {
    enum ti_hedge_kind kind;
    tied_duration_t ns; /* AFTER: as the library takes it, TIED_HEDGE_NOW for 0 */
    uint32_t ppm;       /* PERCENTILE: 950000 is p95 */
};

/* What may follow a word, and what a program can do: bits. */
enum ti_policy_takes {
    TI_TAKES_NOTHING = 0,
    TI_TAKES_STAGGER = 1,  /* tied:1ms */
    TI_TAKES_HEDGE = 2,    /* single+hedge:auto@5%, and /governed */
    TI_TAKES_DELAY = 4,    /* hedge/p95: the word is a hedge itself */
    TI_TAKES_PICK = 8,     /* tied/random */
    TI_TAKES_KEEP = 16,    /* clone/keep: losers are not cancelled */
    TI_TAKES_D = 32,       /* jsq(3) */
    TI_TAKES_AFFINITY = 64 /* tied/affinity: a program whose calls have keys */
};

struct ti_policy_word {
    const char *name; /* NULL: end of the table */
    uint32_t number;  /* of a mode: enum tied_mode; else what the owner of the table says */
    bool is_tied;     /* copies that name each other, for the default choice */
    uint32_t takes;
};

/* What a program understands. */
struct ti_policy_grammar {
    const struct ti_policy_word *more; /* words beside the modes; NULL: none */
    uint32_t takes;
    const char *examples; /* for a message, "single, tied:1ms or tied/random" */
};

struct ti_policy_text {
    const struct ti_policy_word *word;
    bool is_mode;                /* the word is one of the library's modes */
    uint32_t pick;               /* given, or the default */
    struct tied_policy settings; /* of its calls, which are declared idempotent: mode, stagger,
                                    rule, extra_load, governor */
    struct ti_hedge hedge;       /* a PART: NONE unless given */
    bool keeps_losers;
    uint32_t d; /* 0: not given */
};

/* @return 0 (*out is wholly set), TIED_ERR_INVAL (one line in why, *out is as it was) */
TIED_NODISCARD int ti_policy_parse (const char *text,
                                    const struct ti_policy_grammar *grammar,
                                    struct ti_policy_text *out,
                                    char why[TI_CLI_WHY_MAX]);

/* The pieces, for where they stand alone. Each returns 0, or negative and leaves *out. */

/* "auto", or a duration up to 1 h. @return what ti_units_text () puts in words */
TIED_NODISCARD int ti_stagger_parse (const char *text, tied_duration_t *out);
/* A duration up to 1 h, 0s included, or a percentile. @return the same */
TIED_NODISCARD int ti_hedge_parse (const char *text, struct ti_hedge *out);
/* "5%", "0.5%", up to 100 % -> ppm. */
TIED_NODISCARD int ti_share_parse (const char *text, uint32_t *out_ppm);
/* Another rule: extra_load, governor and floor become its defaults. */
void ti_policy_set_rule (struct tied_policy *policy, const struct tied_hedge_rule *rule);
/* Its delay depends on what was measured. */
bool ti_hedge_rule_learns (const struct tied_hedge_rule *rule);
/* "p95", "p99.9" -> ppm. */
TIED_NODISCARD int ti_percentile_parse (const char *text, uint32_t *out_ppm);

#endif
