/* SPDX-License-Identifier: MIT */
/*
 * The seam between a call and the request in whose handler it is made: what the call takes over,
 * and how it is cancelled with the request. The replica runtime implements it and the client uses
 * it, and neither knows the other.
 *
 * Locks: the functions below take the replica's lock, so a client calls them without its own; the
 * replica calls the functions of ti_child_ops with its lock held. Order: replica, then client.
 */
#ifndef TI_PARENT_H
#define TI_PARENT_H

#include <tied/types.h>

struct tied_request;

/* What a call takes over. */
struct ti_parent_terms {
    tied_time_t deadline;    /* TIED_NEVER: none */
    const char *traceparent; /* NULL: none; lives until the request is answered */
    uint8_t copies_max;      /* [1, TIED_COPIES_MAX] */
};

/* What a request does with a call that it is the parent of. The client lives as long as the
   request. */
struct ti_child_ops {
    bool (*cancel) (void *client, struct tied_call_id call); /* true: it was live */
    bool (*is_live) (void *client, struct tied_call_id call);
};

/* Keep a place for one more child. Each success is followed by ti_parent_adopt () or
   ti_parent_forgo (). 0; TIED_ERR_CANCELLED; TIED_ERR_FULL (children_max are live);
   TIED_ERR_STATE (it is answered); TIED_ERR_NOMEM. */
int ti_parent_reserve (struct tied_request *self, struct ti_parent_terms *out);
void ti_parent_forgo (struct tied_request *self);
/* The call has been submitted. If the request was cancelled meanwhile, so is the call, at once. */
void ti_parent_adopt (struct tied_request *self,
                      void *client,
                      struct tied_call_id call,
                      const struct ti_child_ops *ops);

#endif
