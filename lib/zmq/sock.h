/* SPDX-License-Identifier: MIT */
/*
 * The sockets of both runtimes, with the options that ZeroMQ's failures ask for: DONTWAIT always,
 * ROUTER mandatory, bounded linger, no ZMTP heartbeats, options before attach. A socket is used
 * only under the lock of the engine that owns it.
 */
#ifndef TI_SOCK_H
#define TI_SOCK_H

#include <zmq.h>

#include <tied/error.h>
#include <tied/types.h>
#include <tied/wire.h>

struct ti_sock_options {
    int type;          /* ZMQ_ROUTER (binds) or ZMQ_DEALER (connects, ZMQ_IMMEDIATE) */
    uint32_t send_hwm; /* messages */
    uint32_t recv_hwm;
    int64_t frame_max; /* ZMQ_MAXMSGSIZE, bytes */
};

/* A socket with its options set; NULL with errno when libzmq gives none. */
void *ti_sock_new (void *context, const struct ti_sock_options *options);
void ti_sock_close (void **sock_p);

/* 0, TIED_ERR_IN_USE, TIED_ERR_ENDPOINT, TIED_ERR_SYSTEM; out_endpoint: the real one (port chosen).
 */
TIED_NODISCARD int
ti_sock_bind (void *sock, const char *endpoint, char *out_endpoint, size_t capacity);
TIED_NODISCARD int ti_sock_connect (void *sock, const char *endpoint);
int ti_sock_fd (void *sock);
/* A PAIR that receives these events of the socket (ZMQ_EVENT_*), by way of an inproc name of its
   own; NULL with errno when libzmq gives none. */
void *ti_sock_monitor (void *sock, void *context, const char *name, int events);
/* Take away all events that there are. true: there were some. */
bool ti_sock_monitor_said (void *monitor);
/* ZMQ_EVENTS: bits ZMQ_POLLIN, ZMQ_POLLOUT. A DEALER with ZMQ_IMMEDIATE loses POLLOUT when its
   connection does, which is how links are known to be down. ZMQ_POLLERR alone: the context is being
   terminated, which waits until the socket is closed. */
int ti_sock_events (void *sock);

/* One received message: routing id (ROUTER only), header, optional body frame. */
struct ti_envelope {
    zmq_msg_t route;
    zmq_msg_t header;
    zmq_msg_t body;
    bool has_body;
};

enum ti_recv {
    TI_RECV_NONE = 0,      /* nothing there */
    TI_RECV_MESSAGE = 1,   /* envelope filled: the caller closes it */
    TI_RECV_MULTIPART = 2, /* had more frames than the protocol knows: drained and closed here */
    TI_RECV_ENDED = 3 /* the context is being terminated, which waits until the socket is closed */
};

/* is_router: expect a routing id first. Never blocks. */
enum ti_recv ti_sock_recv (void *sock, bool is_router, struct ti_envelope *out);
void ti_envelope_close (struct ti_envelope *envelope);

/*
 * Encode and send, never blocking. route NULL for a DEALER. A body larger than inline_max goes in a
 * frame of its own; body_follows is set accordingly. The message's views are read, not kept.
 * 0; TIED_ERR_ABSENT (no such route; DEALER: no connection, or its pipe is full), TIED_ERR_FULL
 * (ROUTER: high-water mark), TIED_ERR_INVAL, TIED_ERR_NOMEM, TIED_ERR_SYSTEM. On error nothing was
 * sent.
 */
TIED_NODISCARD int ti_sock_send (void *sock,
                                 const void *route,
                                 size_t route_size,
                                 struct tied_message *message,
                                 uint32_t inline_max);

#endif
