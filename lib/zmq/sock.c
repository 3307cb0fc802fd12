/* SPDX-License-Identifier: MIT */
#include "zmq/sock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "zmq/endpoint.h"

/* Headers with bodies up to here are packed on the stack and copied once into the message. */
#define STACK_HEADER 2048

enum {
    LINGER_MS = 300,   /* replies and cancels on their way at close */
    RECONNECT_MS = 20, /* never 0, ZQ-31 */
    RECONNECT_MAX_MS = 1000,
    CONNECT_TIMEOUT_MS = 2000, /* a silent host is tried again, instead of the system's minutes */
    KEEPALIVE_IDLE_S = 10,
    KEEPALIVE_INTERVAL_S = 5,
    KEEPALIVE_COUNT = 3,
    /* epoll sets and eventfds of libzmq's two threads, of the context, a socket and its monitor,
       and a connection or two */
    DESCRIPTORS_NEEDED = 16
};

/* libzmq looks after its own at the beginning of nearly every function, and gives up with EINTR
   when a signal comes (ZQ-21). Nothing has happened then: the function is called again. */
static bool is_interrupted (int rc)
{
    return rc < 0 && errno == EINTR;
}

static int set_int (void *sock, int option, int value)
{
    return zmq_setsockopt (sock, option, &value, sizeof value);
}

static int set_options (void *sock, const struct ti_sock_options *options)
{
    int rc = 0;

    rc |= set_int (sock, ZMQ_LINGER, LINGER_MS);
    rc |= set_int (sock, ZMQ_SNDHWM, (int)options->send_hwm);
    rc |= set_int (sock, ZMQ_RCVHWM, (int)options->recv_hwm);
    rc |= set_int (sock, ZMQ_SNDTIMEO, 0);
    rc |= set_int (sock, ZMQ_RCVTIMEO, 0);
    rc |= zmq_setsockopt (sock, ZMQ_MAXMSGSIZE, &options->frame_max, sizeof options->frame_max);
    /* A machine that lost its power says nothing: let the kernel find out. */
    rc |= set_int (sock, ZMQ_TCP_KEEPALIVE, 1);
    rc |= set_int (sock, ZMQ_TCP_KEEPALIVE_IDLE, KEEPALIVE_IDLE_S);
    rc |= set_int (sock, ZMQ_TCP_KEEPALIVE_INTVL, KEEPALIVE_INTERVAL_S);
    rc |= set_int (sock, ZMQ_TCP_KEEPALIVE_CNT, KEEPALIVE_COUNT);
    if (options->type == ZMQ_ROUTER) {
        rc |= set_int (sock, ZMQ_ROUTER_MANDATORY, 1);
    } else {
        rc |= set_int (sock, ZMQ_IMMEDIATE, 1);
        rc |= set_int (sock, ZMQ_RECONNECT_IVL, RECONNECT_MS);
        rc |= set_int (sock, ZMQ_RECONNECT_IVL_MAX, RECONNECT_MAX_MS);
        rc |= set_int (sock, ZMQ_CONNECT_TIMEOUT, CONNECT_TIMEOUT_MS);
    }
    return rc;
}

/* The first socket of a context starts libzmq's threads, and those abort the process when they get
   no descriptor (ZQ-17). Others may take what is free now before libzmq does: this makes the abort
   unlikely, not impossible. */
static bool has_descriptors (void)
{
    int taken[DESCRIPTORS_NEEDED];
    int count = 0;
    bool is_enough;

    while (count < DESCRIPTORS_NEEDED &&
           (taken[count] = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK)) >= 0)
        count++;
    is_enough = count == DESCRIPTORS_NEEDED;
    while (count > 0)
        (void)close (taken[--count]);
    if (!is_enough)
        errno = EMFILE;
    return is_enough;
}

void *ti_sock_new (void *context, const struct ti_sock_options *options)
{
    void *sock = has_descriptors () ? zmq_socket (context, options->type) : NULL;

    if (sock && set_options (sock, options) != 0)
        ti_sock_close (&sock);
    return sock;
}

void ti_sock_close (void **sock_p)
{
    if (!sock_p || !*sock_p)
        return;
    int saved = errno;

    (void)zmq_close (*sock_p);
    *sock_p = NULL;
    errno = saved;
}

/* A name keeps its IPv4 meaning unless the address is written as IPv6: with ZMQ_IPV6 on,
   "localhost" would never fall back to 127.0.0.1. */
static void choose_family (void *sock, const char *endpoint)
{
    (void)set_int (sock, ZMQ_IPV6, strchr (endpoint, '[') != NULL);
}

static int endpoint_error (int error)
{
    switch (error) {
    case EADDRINUSE:
        return TIED_ERR_IN_USE;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EMTHREAD:
    case ETERM:
    case ENOTSOCK:
        return TIED_ERR_SYSTEM;
    default:
        return TIED_ERR_ENDPOINT;
    }
}

/* libzmq removes a socket file that is there before it binds, which takes the place of one that was
   killed, and of one that is alive as well: the latter would go on with an endpoint that nobody
   finds. So ask first. Two that start in the same instant may still both find the place free. */
static bool is_listened_on (const char *endpoint)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = endpoint + sizeof "ipc://" - 1;
    size_t size;
    bool is_taken;
    int fd;

    if (strncmp (endpoint, "ipc://", sizeof "ipc://" - 1) != 0 || *path == '@' || *path == '*')
        return false;
    size = strlen (path);
    if (size == 0 || size >= sizeof address.sun_path)
        return false;
    memcpy (address.sun_path, path, size);
    fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return false;
    /* EAGAIN: somebody listens and has a full backlog; EPROTOTYPE: on a socket of another type. */
    is_taken = connect (fd, (const struct sockaddr *)&address, sizeof address) == 0 ||
               errno == EAGAIN || errno == EPROTOTYPE;
    (void)close (fd);
    return is_taken;
}

int ti_sock_bind (void *sock, const char *endpoint, char *out_endpoint, size_t capacity)
{
    size_t size = capacity;
    int rc;

    if (is_listened_on (endpoint))
        return TIED_ERR_IN_USE;
    if (!ti_endpoint_has_port (endpoint))
        return TIED_ERR_ENDPOINT;
    choose_family (sock, endpoint);
    do
        rc = zmq_bind (sock, endpoint);
    while (is_interrupted (rc));
    if (rc != 0)
        return endpoint_error (errno);
    if (capacity > 0 && zmq_getsockopt (sock, ZMQ_LAST_ENDPOINT, out_endpoint, &size) != 0) {
        do
            rc = zmq_unbind (sock, endpoint);
        while (is_interrupted (rc));
        return TIED_ERR_ENDPOINT;
    }
    return 0;
}

int ti_sock_connect (void *sock, const char *endpoint)
{
    int rc;

    if (!ti_endpoint_has_port (endpoint))
        return TIED_ERR_ENDPOINT;
    choose_family (sock, endpoint);
    do
        rc = zmq_connect (sock, endpoint);
    while (is_interrupted (rc));
    return rc == 0 ? 0 : endpoint_error (errno);
}

void *ti_sock_monitor (void *sock, void *context, const char *name, int events)
{
    int linger = 0;
    int no_limit = 0; /* the I/O thread that reports must never wait for a reader */
    void *monitor = NULL;
    int rc;

    do
        rc = zmq_socket_monitor (sock, name, events);
    while (is_interrupted (rc));
    if (rc == 0)
        monitor = zmq_socket (context, ZMQ_PAIR);
    if (!monitor)
        return NULL;
    rc = zmq_setsockopt (monitor, ZMQ_LINGER, &linger, sizeof linger);
    rc |= zmq_setsockopt (monitor, ZMQ_RCVHWM, &no_limit, sizeof no_limit);
    if (rc == 0) {
        do
            rc = zmq_connect (monitor, name);
        while (is_interrupted (rc));
    }
    if (rc != 0)
        ti_sock_close (&monitor);
    return monitor;
}

bool ti_sock_monitor_said (void *monitor)
{
    bool any = false;
    zmq_msg_t frame;
    int rc;

    zmq_msg_init (&frame);
    do {
        rc = zmq_msg_recv (&frame, monitor, ZMQ_DONTWAIT);
        any = any || rc >= 0;
    } while (rc >= 0 || is_interrupted (rc));
    zmq_msg_close (&frame);
    return any;
}

int ti_sock_fd (void *sock)
{
    int fd = -1;
    size_t size = sizeof fd;

    return zmq_getsockopt (sock, ZMQ_FD, &fd, &size) == 0 ? fd : -1;
}

int ti_sock_events (void *sock)
{
    int events = 0;
    size_t size = sizeof events;
    int rc;

    do
        rc = zmq_getsockopt (sock, ZMQ_EVENTS, &events, &size);
    while (is_interrupted (rc));
    if (rc != 0)
        return errno == ETERM ? ZMQ_POLLERR : 0;
    return events;
}

/* Over inproc a frame's bytes go from thread to thread as they are. libzmq sees to the order of
   that, which the thread sanitizer cannot know: libzmq is not instrumented. */
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#define HAND_OVER(frame) __tsan_release (zmq_msg_data (frame))
#define TAKE_OVER(frame) __tsan_acquire (zmq_msg_data (frame))
#else
#define HAND_OVER(frame) ((void)(frame))
#define TAKE_OVER(frame) ((void)(frame))
#endif

static int receive_frame (void *sock, zmq_msg_t *frame)
{
    int rc;

    do
        rc = zmq_msg_recv (frame, sock, ZMQ_DONTWAIT);
    while (is_interrupted (rc));
    if (rc >= 0)
        TAKE_OVER (frame);
    return rc;
}

/* A failed receive of a message's first frame. */
static enum ti_recv receive_none (struct ti_envelope *envelope)
{
    bool has_ended = errno == ETERM;

    ti_envelope_close (envelope);
    return has_ended ? TI_RECV_ENDED : TI_RECV_NONE;
}

static enum ti_recv drain_message (void *sock, struct ti_envelope *envelope, const zmq_msg_t *last)
{
    bool has_more = zmq_msg_more (last) != 0;

    while (has_more && receive_frame (sock, &envelope->body) >= 0)
        has_more = zmq_msg_more (&envelope->body) != 0;
    ti_envelope_close (envelope);
    return TI_RECV_MULTIPART;
}

enum ti_recv ti_sock_recv (void *sock, bool is_router, struct ti_envelope *out)
{
    zmq_msg_init (&out->route);
    zmq_msg_init (&out->header);
    zmq_msg_init (&out->body);
    out->has_body = false;

    if (is_router) {
        if (receive_frame (sock, &out->route) < 0)
            return receive_none (out);
        if (!zmq_msg_more (&out->route))
            return drain_message (sock, out, &out->route);
    }
    /* The frames of a message arrive together, so only the first one can be missing. */
    if (receive_frame (sock, &out->header) < 0)
        return receive_none (out);
    if (!zmq_msg_more (&out->header))
        return TI_RECV_MESSAGE;
    if (receive_frame (sock, &out->body) < 0 || zmq_msg_more (&out->body))
        return drain_message (sock, out, &out->body);
    out->has_body = true;
    return TI_RECV_MESSAGE;
}

void ti_envelope_close (struct ti_envelope *envelope)
{
    zmq_msg_close (&envelope->route);
    zmq_msg_close (&envelope->header);
    zmq_msg_close (&envelope->body);
}

/* The body of a message that may have one; NULL for the other types. */
static struct tied_view *body_of (struct tied_message *message, bool **out_follows)
{
    switch (message->type) {
    case TIED_WIRE_REQUEST:
        *out_follows = &message->u.request.body_follows;
        return &message->u.request.body;
    case TIED_WIRE_REPLY:
        *out_follows = &message->u.reply.body_follows;
        return &message->u.reply.body;
    default:
        return NULL;
    }
}

static int send_error (bool is_router)
{
    switch (errno) {
    case EHOSTUNREACH:
        return TIED_ERR_ABSENT;
    case EAGAIN:
        return is_router ? TIED_ERR_FULL : TIED_ERR_ABSENT;
    default:
        return TIED_ERR_SYSTEM;
    }
}

static int hand_frame (void *sock, zmq_msg_t *frame, int flags)
{
    int rc;

    do
        rc = zmq_msg_send (frame, sock, flags | ZMQ_DONTWAIT);
    while (is_interrupted (rc));
    return rc;
}

/* Takes the frame, also on error. */
static int send_frame (void *sock, zmq_msg_t *frame, int flags)
{
    int rc;

    HAND_OVER (frame);
    rc = hand_frame (sock, frame, flags);

    /* A send looks at what the I/O thread reports only now and then, and with DONTWAIT a pipe that
       has long been emptied still counts as full: ask, and try once more. */
    if (rc < 0 && errno == EAGAIN && ti_sock_events (sock) != 0)
        rc = hand_frame (sock, frame, flags);
    if (rc < 0) {
        int saved = errno;
        zmq_msg_close (frame);
        errno = saved;
    }
    return rc;
}

/* Has its bytes, or has failed and is nothing that would have to be closed. */
static int make_frame (zmq_msg_t *frame, const void *data, size_t size)
{
    if (zmq_msg_init_size (frame, size) != 0)
        return TIED_ERR_NOMEM;
    if (size > 0)
        memcpy (zmq_msg_data (frame), data, size);
    return 0;
}

static int send_frames (void *sock,
                        const void *route,
                        size_t route_size,
                        const void *header,
                        size_t header_size,
                        const struct tied_view *body)
{
    zmq_msg_t frames[3];
    int count = 0;
    int sent = 0;
    int rc = 0;

    /* All are made before the first one goes. If one could not follow, what goes next would be
       taken for the rest of this message (ZQ-03). */
    if (route)
        rc = make_frame (&frames[count++], route, route_size);
    if (rc == 0)
        rc = make_frame (&frames[count++], header, header_size);
    if (rc == 0 && body)
        rc = make_frame (&frames[count++], body->data, body->size);
    if (rc < 0)
        count--;
    while (rc == 0 && sent < count) {
        if (send_frame (sock, &frames[sent], sent + 1 < count ? ZMQ_SNDMORE : 0) < 0)
            rc = send_error (route != NULL);
        sent++;
    }
    while (sent < count)
        zmq_msg_close (&frames[sent++]);
    return rc;
}

int ti_sock_send (void *sock,
                  const void *route,
                  size_t route_size,
                  struct tied_message *message,
                  uint32_t inline_max)
{
    bool *follows = NULL;
    struct tied_view *body = body_of (message, &follows);
    unsigned char stack[STACK_HEADER];
    void *heap = NULL;
    void *buffer = stack;
    size_t capacity = sizeof stack;
    int rc;

    if (body) {
        *follows = body->size > inline_max;
        if (!*follows && body->size > sizeof stack - TIED_WIRE_HEADER_MAX) {
            capacity = tied_wire_bound (message);
            heap = malloc (capacity);
            if (!heap)
                return TIED_ERR_NOMEM;
            buffer = heap;
        }
    }
    rc = tied_wire_encode (message, buffer, capacity);
    if (rc > 0)
        rc = send_frames (sock, route, route_size, buffer, (size_t)rc,
                          body && *follows ? body : NULL);
    free (heap);
    return rc;
}
