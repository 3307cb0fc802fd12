/* SPDX-License-Identifier: MIT */
/*
 * A replica for tests of the client: a raw ROUTER that speaks the protocol through lib/wire and
 * does only what the test says. It greets and answers PING by itself; requests and cancels are
 * written down, and the test answers them, or not, in the order it likes. It knows no queue and no
 * peers. One thread at a time.
 */
#ifndef TIED_TEST_FAKE_REPLICA_H
#define TIED_TEST_FAKE_REPLICA_H

#include <tied/client.h>
#include <tied/wire.h>

#define FAKE_SEEN_MAX 4096

struct fake_seen {
    uint8_t type; /* REQUEST or CANCEL */
    struct tied_call_id call;
    uint8_t copy;
    uint8_t reason;
    uint32_t flags;
    uint64_t remaining_us;
    char method[TIED_NAME_MAX + 1];
    char sibling[TIED_NAME_MAX + 1];
    char traceparent[TIED_WIRE_TRACEPARENT_MAX + 1];
    char key[TIED_KEY_MAX + 1];
    uint8_t attempts_left;
    unsigned char *body;
    size_t body_size;
    bool was_inline;
};

struct fake_replica {
    void *context;
    void *router;
    char id[TIED_NAME_MAX + 1];
    char endpoint[256];
    uint64_t incarnation;
    uint32_t body_max; /* what WELCOME says; default 64 MiB */
    bool is_mute;      /* answers neither HELLO nor PING */
    bool does_echo;    /* answers each REQUEST at once with its body */
    uint32_t hellos, pings, requests, cancels;
    struct fake_seen seen[FAKE_SEEN_MAX];
    uint32_t seen_count;
    unsigned char route[64]; /* of the client that spoke last */
    size_t route_size;
};

/* endpoint NULL: an ephemeral port on 127.0.0.1. Its own context unless one is given. */
struct fake_replica *fake_replica_new (const char *id, const char *endpoint, void *context);
void fake_replica_destroy (struct fake_replica **self_p);
/* Handle what has come, without waiting. @return messages handled */
uint32_t fake_replica_serve (struct fake_replica *self);
/* Wait up to timeout_ms for something to come, then serve it. */
uint32_t fake_replica_wait (struct fake_replica *self, int timeout_ms);

/* The n-th REQUEST or CANCEL seen, from 0; NULL if there were fewer. */
struct fake_seen *fake_request (struct fake_replica *self, uint32_t n);
struct fake_seen *fake_cancel (struct fake_replica *self, uint32_t n);

/* WELCOME once more, to the client that spoke last. */
void fake_welcome (struct fake_replica *self);
void fake_reply (struct fake_replica *self,
                 const struct fake_seen *request,
                 uint32_t status,
                 const void *body,
                 size_t size);
void fake_reject (struct fake_replica *self, const struct fake_seen *request, uint8_t reason);
void fake_send (struct fake_replica *self, struct tied_message *message);
/* Frames as they are, to the client that spoke last. */
void fake_send_frames (struct fake_replica *self,
                       uint32_t count,
                       const void *const *data,
                       const size_t *sizes);

#endif
