/* SPDX-License-Identifier: MIT */
/*
 * A link: one DEALER to one remote ROUTER, and whether it is up.
 *
 * With ZMQ_IMMEDIATE the socket is writable exactly while its connection is established and its
 * pipe has room, so "up" means "can be written". A reconnect takes RECONNECT_IVL (20 ms) or more;
 * whoever looks less often could see the socket writable before and after and miss that
 * everything on its way was lost, so a monitor of the socket remembers that there was a
 * disconnect. A link knows nothing of what is said over it. Used under the engine's lock.
 */
#ifndef TI_LINK_H
#define TI_LINK_H

#include "zmq/sock.h"

/* Sockets of libzmq that a link takes: the DEALER and both ends of its monitor. */
#define TI_LINK_SOCKETS 3

/* What ti_link_update () has found. DOWN and UP together: went down first, is up again. */
enum ti_link_bits {
    TI_LINK_DOWN = 1 << 0,    /* edge: what was in flight is lost */
    TI_LINK_UP = 1 << 1,      /* edge: say HELLO first */
    TI_LINK_READABLE = 1 << 2 /* level: messages wait */
};

struct ti_link {
    void *sock;
    void *monitor; /* PAIR that receives disconnect events */
    int fd;        /* ZMQ_FD of sock: watch it for reading */
    bool is_up;
    tied_time_t asked_at; /* when the monitor was last asked */
};

/*
 * Open and connect. 0; TIED_ERR_ENDPOINT; TIED_ERR_SYSTEM. options->type is not looked at. On error
 * nothing is left open. The link starts down.
 */
TIED_NODISCARD int ti_link_open (struct ti_link *self,
                                 void *context,
                                 const char *endpoint,
                                 const struct ti_sock_options *options);
/* Accepts a link that is all zeros or was closed before. */
void ti_link_close (struct ti_link *self);

/*
 * Process what ZMQ_FD reported; call it when fd was readable and after any use of the link. The
 * caller drains the link when READABLE is set, before it waits again. A link whose context is being
 * terminated closes here, and is down for good. Bits of enum ti_link_bits.
 */
unsigned ti_link_update (struct ti_link *self, tied_time_t now);

/* As ti_sock_send () without a route: TIED_ERR_ABSENT while down or full. */
TIED_NODISCARD int
ti_link_send (struct ti_link *self, struct tied_message *message, uint32_t inline_max);
/* As ti_sock_recv (). */
enum ti_recv ti_link_recv (struct ti_link *self, struct ti_envelope *out);

#endif
