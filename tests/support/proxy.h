/* SPDX-License-Identifier: MIT */
/*
 * A TCP proxy between two processes, for what a network can do to their bytes: let them pass, keep
 * them for a while, or swallow them. It knows nothing of messages; change the mode only while the
 * line is quiet, or at the edge of what may be cut. One thread of its own.
 */
#ifndef TIED_TEST_PROXY_H
#define TIED_TEST_PROXY_H

struct proxy;

enum proxy_way {
    PROXY_TO_TARGET = 0,
    PROXY_FROM_TARGET = 1
};
enum proxy_mode {
    PROXY_PASS = 0,
    PROXY_HOLD, /* nothing is lost, nothing arrives */
    PROXY_SWALLOW
};

/* target: "tcp://127.0.0.1:PORT"; it need not listen yet. */
struct proxy *proxy_new (const char *target);
/* Where to connect. */
const char *proxy_endpoint (const struct proxy *self);
void proxy_set (struct proxy *self, enum proxy_way way, enum proxy_mode mode);
void proxy_destroy (struct proxy **self_p);

/* "tcp://127.0.0.1:PORT" with a port that nobody listens at and that nobody else gets by this or
   from the system while this process lives. */
void proxy_free_endpoint (char out[64]);

#endif
