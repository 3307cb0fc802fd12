/* SPDX-License-Identifier: MIT */
/*
 * Results by method and idempotency key: of calls that have ended, for a while, and of those that
 * wait or run, who they are. Bounded by entries, by bytes of results and by age; every operation
 * takes constant time but ti_results_age (), which is bounded by its argument. It knows no request,
 * socket, lock or core: a holder is a number of the caller's.
 *
 * An entry is PENDING while its holder waits or runs, and STORED afterwards. Only stored ones are
 * evicted, the oldest first; a table full of pending ones takes no more.
 */
#ifndef TI_RESULTS_H
#define TI_RESULTS_H

#include <tied/wire.h>

#define TI_RESULT_NONE UINT32_MAX

/* What is asked for: equal method and key are the same request if the body is the same, too. */
struct ti_result_key {
    struct tied_view method; /* 1..TIED_NAME_MAX bytes */
    struct tied_view key;    /* 1..TIED_KEY_MAX bytes */
    uint64_t hash;           /* of method and key; both by ti_results_key () */
    uint64_t body_hash;
    size_t body_size;
};

enum ti_result_verdict {
    TI_RESULT_NEW = 0, /* not here */
    TI_RESULT_FULL,    /* not here, and there is no entry for it */
    TI_RESULT_PENDING, /* its holder waits or runs */
    TI_RESULT_STORED,  /* its result is here */
    TI_RESULT_REUSED   /* the key came before with another body */
};

struct ti_result {
    uint64_t hash, body_hash;
    size_t request_size;
    uint32_t next;         /* in its bucket, or in the free list */
    uint32_t older, newer; /* STORED: by age */
    uint32_t holder;       /* PENDING */
    uint32_t status;       /* STORED */
    uint8_t state;         /* enum in results.c */
    uint8_t method_size, key_size;
    tied_time_t until; /* STORED */
    void *body;        /* STORED; NULL if size is 0 */
    size_t body_size;
    char text[TIED_NAME_MAX + TIED_KEY_MAX]; /* method, then key */
};

struct ti_results {
    struct ti_result *items;
    uint32_t *buckets; /* index + 1; 0: none */
    uint32_t mask;
    uint32_t max;
    uint32_t fresh; /* items from here on were never used */
    uint32_t free;  /* index of the first used before, TI_RESULT_NONE */
    uint32_t oldest, newest;
    uint32_t pending_count, stored_count;
    uint64_t bytes, bytes_max;
    tied_duration_t ttl_ns;
    uint64_t seed;
    uint64_t stored, evicted, expired, too_large; /* counters */
};

/* max 0: off, nothing is ever asked of it but the queries. 0, TIED_ERR_NOMEM. */
TIED_NODISCARD int ti_results_init (struct ti_results *self,
                                    uint32_t max,
                                    uint64_t bytes_max,
                                    tied_duration_t ttl_ns,
                                    uint64_t seed);
/* Accepts a struct that is all zeros. */
void ti_results_deinit (struct ti_results *self);

/* Borrows the views. */
struct ti_result_key ti_results_key (const struct ti_results *self,
                                     struct tied_view method,
                                     struct tied_view key,
                                     struct tied_view body);
/* *out_index: of PENDING, STORED. */
enum ti_result_verdict ti_results_look (struct ti_results *self,
                                        const struct ti_result_key *key,
                                        tied_time_t now,
                                        uint32_t *out_index);
/* The verdict was NEW: from now on it is pending. Evicts if need be. */
uint32_t
ti_results_claim (struct ti_results *self, const struct ti_result_key *key, uint32_t holder);
/* The holder of a pending entry has ended. What cannot be kept is forgotten. */
void ti_results_store (struct ti_results *self,
                       uint32_t index,
                       uint32_t status,
                       struct tied_view body,
                       tied_time_t now);
/* The holder of a pending entry leaves without a result. */
void ti_results_drop (struct ti_results *self, uint32_t index);

/* Forget what is too old, at most so many. */
void ti_results_age (struct ti_results *self, tied_time_t now, uint32_t most);
/* When the next one is; TIED_NEVER. */
tied_time_t ti_results_deadline (const struct ti_results *self);
/* Asserts that lists, index, counts and bytes agree; for tests. */
void ti_results_check (const struct ti_results *self);

#endif
