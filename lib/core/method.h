/* SPDX-License-Identifier: MIT */
/*
 * What is decided per method: may this call be tied, may it be hedged and when. It holds a method's
 * settings, what was learned of its calls, its budget and its governor; each of these is a
 * sub-machine of its own, here they only meet. It knows no replica and sends nothing.
 *
 * Learning. A call without a hedge takes X: from its first copy to its end. A call that its hedge
 * has won says that X was at least so long; so does one that was given up. A hedge takes Y, from
 * its own send [BE-04]. So no hedge ever shortens or lengthens the estimate of X. With the rule
 * AUTO it learns, too, what an execution takes, from its start; one that a hedge ended is cut short
 * in the same way.
 */
#ifndef TI_METHOD_H
#define TI_METHOD_H

#include <tied/client_core.h>

#include "base/prng.h"
#include "base/util.h"
#include "core/budget.h"
#include "core/governor.h"
#include "core/latency.h"
#include "core/relief.h"
#include "core/single_r.h"

/* How long a plan is kept. */
#define TI_METHOD_PLAN_NS TIED_MS (250)
/* The same while there are too few samples: who is fresh learns soon, also under full load. */
#define TI_METHOD_COLD_NS TIED_MS (25)
/* Hedges that ended before Y is trusted; until then it is taken to be as X. */
#define TI_METHOD_HEDGE_SAMPLES 50

/* Where the curves are put while a plan is made: one for all methods of a core. */
struct ti_method_scratch {
    struct ti_curve call, hedge;
};

struct ti_method_plan {
    tied_time_t until;                /* valid before */
    tied_duration_t delay_ns;         /* TIED_NEVER: no hedge, because of reason */
    uint32_t probability_ppm;         /* of hedging a call that is pending then */
    uint32_t target_ppm;              /* that the plan makes small: the policy's, or a lower one
                                         where that cannot be moved; 0: rule is not AUTO */
    uint8_t reason;                   /* enum tied_not_sent */
    tied_duration_t benefit_ns;       /* is_shadow: what such a hedge would save on average */
    tied_duration_t typical_ns;       /* is_shadow: what half of the calls take; TIED_NEVER: not
                                         known */
    struct ti_single_r_plan single_r; /* rule AUTO, warm; else all zero */
    struct ti_relief relief;          /* the same; else never */
};

/* Duplicates of ties in the last few seconds. */
struct ti_method_duplicates {
    uint64_t calls, copies;               /* the latter in millionths; both fade */
    uint64_t calls_before, copies_before; /* that are counted */
};

struct ti_method {
    struct tied_policy policy;
    struct ti_budget budget;
    struct ti_governor governor;
    struct ti_method_plan plan;
    struct ti_method_duplicates duplicates;
    struct ti_relief_trust trust;
    struct tied_method_counters counters;
    bool learns;
    size_t call_times;    /* offset of struct ti_latency: X */
    size_t hedge_times;   /* the same: Y */
    size_t answer_times;  /* the same: what calls took, with their hedges */
    size_t service_times; /* the same: what executions took; only while the rule is AUTO */
};

/* Bytes of the arrays that a method needs; and a method with the defaults over them. window_ns 0:
 * it learns nothing and needs none. */
size_t ti_method_size (tied_duration_t window_ns);
void ti_method_init (struct ti_method *self, void *arrays, tied_duration_t window_ns);
/* Other settings from now on: what was learned, saved up and stopped stays. */
void ti_method_change (struct ti_method *self, const struct tied_policy *policy);

/* What one call asks for, its own wishes before those of the method. */
struct ti_method_wish {
    uint32_t mode; /* enum tied_mode or TIED_MODE_POLICY */
    bool is_idempotent;
    bool is_inner;            /* made while another call is handled: never hedged */
    uint64_t depth_milli;     /* copies that a replica holds on average, thousandths */
    tied_duration_t hedge_ns; /* as submit */
};

/* What it gets. */
struct ti_method_verdict {
    uint32_t mode;            /* enum tied_mode */
    bool is_idempotent;       /* the call's or the method's declaration */
    bool is_exclusive;        /* that mode was wished, and holds for a copy alone as well */
    uint8_t not_tied;         /* enum tied_not_sent: why the mode is SINGLE, though another was
                                 wished */
    uint8_t not_hedged;       /* the same for the hedge; NONE if there is one or none was wished */
    tied_duration_t hedge_ns; /* TIED_NEVER: no hedge; 0: at once */
    bool may_relieve;         /* a hedge may go when the call has run for plan.relief.delay_ns */
};

/* A call begins: earns its part of the budget. */
void ti_method_begin (struct ti_method *self,
                      const struct ti_method_wish *wish,
                      struct ti_prng *prng,
                      struct ti_method_scratch *scratch,
                      tied_time_t now,
                      struct ti_method_verdict *out);

/* The hedge is due: may it go? Takes its token. @return enum tied_not_sent */
uint32_t ti_method_may_hedge (struct ti_method *self, bool is_relief);
/* A hedge that was allowed did not leave, or was definitely refused. */
void ti_method_hedge_unsent (struct ti_method *self);
/* A re-issue after a loss, or the last try after refusals. */
bool ti_method_may_send_again (struct ti_method *self);

/* After an error that waits: may the copy that was planned go, though its call has run? Takes a
 * token, since without a limit an outage would feed itself. */
bool ti_method_may_ask_other (struct ti_method *self);

/* An extra copy was sent; was refused. */
void ti_method_extra (struct ti_method *self, bool is_hedge, tied_time_t now);
void ti_method_refused (struct ti_method *self, bool is_hedge, tied_time_t now);
/* Both copies of a tie ran. */
void ti_method_duplicate (struct ti_method *self, tied_time_t now);

/* A call ended. Times are since its first copy, and since its hedge, if one was sent. */
struct ti_method_end {
    uint32_t outcome; /* enum tied_outcome */
    bool was_sent;    /* at least one copy */
    bool was_tied;    /* both copies were sent */
    bool was_lost;    /* a copy of it was lost on the way */
    bool was_hedged;
    bool hedge_won;
    tied_duration_t since_first;
    tied_duration_t since_hedge;
    bool was_relieved;            /* the hedge was sent because a copy ran for long */
    tied_duration_t since_shadow; /* since a hedge would have been sent; 0: would not */
    tied_duration_t service_ns;   /* of the copy that won; 0: none has, or it is not known */
    tied_duration_t ran_ns;       /* none but a hedge has won: a copy has run at least so long */
};
void ti_method_end (struct ti_method *self, const struct ti_method_end *end, tied_time_t now);

void ti_method_status (const struct ti_method *self, struct tied_client_method *out);
void ti_method_check (const struct ti_method *self);

/* method_plan.c: a new plan, and what it would save in shadow mode; when the old one is over. */
void ti_method_plan (struct ti_method *self, struct ti_method_scratch *scratch, tied_time_t now);

/* One of the windows of times; only if it learns. */
static inline struct ti_latency *ti_method_times (const struct ti_method *self, size_t offset)
{
    return TI_AT (struct ti_latency, (void *)(uintptr_t)self, offset);
}

static inline bool ti_method_waits_for_others (const struct ti_method *self, uint32_t status)
{
    for (uint32_t i = 0; i < self->policy.waits_count; i++)
        if (status >= self->policy.waits[i].first && status <= self->policy.waits[i].last)
            return true;
    return false;
}

#endif
