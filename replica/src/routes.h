/* SPDX-License-Identifier: MIT */
/*
 * Routing ids of a ROUTER and the small index that stands for each. Bounded; every operation takes
 * constant time. libzmq's own ids have 5 bytes; a client may choose up to 255, of which we keep
 * those of up to TI_ROUTE_MAX bytes.
 */
#ifndef TI_ROUTES_H
#define TI_ROUTES_H

#include <tied/error.h>
#include <tied/types.h>

#define TI_ROUTE_MAX  32
#define TI_ROUTE_NONE UINT32_MAX

struct ti_route {
    uint8_t size; /* 0: free */
    uint8_t bytes[TI_ROUTE_MAX];
    uint32_t next; /* in its bucket, or in the free list; TI_ROUTE_NONE ends both */
};

struct ti_routes {
    struct ti_route *items;
    uint32_t *buckets;
    uint32_t max;
    uint32_t mask;
    uint32_t free;
    uint32_t count;
    uint32_t last; /* found last: the next message is often of the same client */
    uint64_t seed; /* clients choose their ids, so the buckets must not be foreseeable */
};

/* max in [1, 1 << 20]. 0 or TIED_ERR_NOMEM. */
TIED_NODISCARD int ti_routes_init (struct ti_routes *self, uint32_t max, uint64_t seed);
/* Accepts a struct that is all zeros. */
void ti_routes_deinit (struct ti_routes *self);
/* TI_ROUTE_NONE if absent. */
uint32_t ti_routes_find (struct ti_routes *self, const void *bytes, size_t size);
/* Index in [0, max) of a route that is not there yet; TI_ROUTE_NONE if full or size is not in
   [1, TI_ROUTE_MAX]. */
uint32_t ti_routes_add (struct ti_routes *self, const void *bytes, size_t size);
/* index is in use. */
void ti_routes_remove (struct ti_routes *self, uint32_t index);

#endif
