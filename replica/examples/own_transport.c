/* SPDX-License-Identifier: MIT */
/*
 * The coordination without ZeroMQ: both cores and the codec over socket pairs, in one thread. One
 * client sends tied calls to two replicas; whichever starts first tells the other to drop its copy.
 * A server that has its own transport, threads and clock embeds the cores just so. Run by ctest.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <tied/client_core.h>
#include <tied/replica_core.h>
#include <tied/wire.h>

#define CALLS    200
#define REPLICAS 2

static const char *const ids[REPLICAS] = {"a", "b"};

struct replica {
    tied_replica_core_t *core;
    int client_fd, peer_fd;
    uint32_t running; /* slot that its only worker serves, UINT32_MAX: none */
};

struct client {
    tied_client_core_t *core;
    int fds[REPLICAS];
    unsigned completed, answered;
};

static tied_time_t now_ns (void)
{
    struct timespec ts;
    (void)clock_gettime (CLOCK_MONOTONIC, &ts);
    return TIED_S ((uint64_t)ts.tv_sec) + (uint64_t)ts.tv_nsec;
}

static int post (int fd, const struct tied_message *message)
{
    unsigned char buffer[TIED_WIRE_HEADER_MAX + 64];
    int size = tied_wire_encode (message, buffer, sizeof buffer);
    return size > 0 && send (fd, buffer, (size_t)size, MSG_DONTWAIT) == size ? 0 : -1;
}

/* ---- the replica's driver: events in, actions out ---- */

static void replica_act (struct replica *self, const struct tied_replica_action *act)
{
    struct tied_message message = {0};

    switch (act->type) {
    case TIED_REPLICA_ACT_RUN:
        self->running = act->slot;
        return;
    case TIED_REPLICA_ACT_REJECT:
        message.type = TIED_WIRE_REJECT;
        message.u.reject = (struct tied_wire_reject){act->call, act->copy, act->reason, act->load};
        (void)post (self->client_fd, &message);
        return;
    case TIED_REPLICA_ACT_REPLY:
        message.type = TIED_WIRE_REPLY;
        message.u.reply = (struct tied_wire_reply){.call = act->call,
                                                   .copy = act->copy,
                                                   .flags = act->flags,
                                                   .queue_us = act->queue_ns / 1000,
                                                   .service_us = act->service_ns / 1000,
                                                   .load = act->load};
        (void)post (self->client_fd, &message);
        return;
    case TIED_REPLICA_ACT_TELL_STARTED:
    case TIED_REPLICA_ACT_TELL_UNTIE:
        message.type =
            act->type == TIED_REPLICA_ACT_TELL_STARTED ? TIED_WIRE_STARTED : TIED_WIRE_UNTIE;
        message.u.tie = (struct tied_wire_tie){act->call, act->copy};
        (void)post (self->peer_fd, &message);
        return;
    default: /* these copies have no bytes to keep or free, and handlers here end at once */
        return;
    }
}

static void replica_step (struct replica *self, const struct tied_replica_event *event)
{
    const struct tied_replica_action *act;

    if (tied_replica_core_step (self->core, event, now_ns ()) != 0)
        return;
    while ((act = tied_replica_core_next (self->core)) != NULL)
        replica_act (self, act);
}

static void replica_receive (struct replica *self, int fd)
{
    unsigned char buffer[1024];
    struct tied_message in;
    struct tied_replica_event event = {0};
    ssize_t size;

    while ((size = recv (fd, buffer, sizeof buffer, MSG_DONTWAIT)) > 0) {
        if (tied_wire_decode (buffer, (size_t)size, &in, NULL) != 0)
            continue;
        if (in.type == TIED_WIRE_REQUEST) {
            const struct tied_wire_request *request = &in.u.request;
            event.type = TIED_REPLICA_EV_REQUEST;
            event.u.request =
                (struct tied_replica_request){.call = request->call,
                                              .copy = request->copy,
                                              .flags = request->flags,
                                              .incarnation = request->incarnation,
                                              .remaining_ns = request->remaining_us * 1000,
                                              .sent_us = request->sent_us,
                                              .sibling = request->sibling.size ? 0 : TIED_NO_PEER,
                                              .sibling_named = request->sibling.size > 0};
        } else if (in.type == TIED_WIRE_CANCEL) {
            event.type = TIED_REPLICA_EV_CANCEL;
            event.u.cancel.call = in.u.cancel.call;
            event.u.cancel.reason = in.u.cancel.reason;
        } else if (in.type == TIED_WIRE_STARTED || in.type == TIED_WIRE_UNTIE) {
            event.type =
                in.type == TIED_WIRE_STARTED ? TIED_REPLICA_EV_STARTED : TIED_REPLICA_EV_UNTIE;
            event.u.tie.call = in.u.tie.call;
            event.u.tie.copy = in.u.tie.copy;
        } else if (in.type == TIED_WIRE_PING) {
            in.type = TIED_WIRE_PONG;
            in.u.ping.load = tied_replica_core_load (self->core);
            (void)post (self->client_fd, &in);
            event.type = TIED_REPLICA_EV_CLIENT_SEEN;
        } else {
            continue;
        }
        replica_step (self, &event);
    }
}

/* One worker: it ends what it serves, then takes the next. */
static void replica_work (struct replica *self)
{
    struct tied_replica_event event = {.type = TIED_REPLICA_EV_FINISH};

    if (self->running != UINT32_MAX) {
        event.u.finish.slot = self->running;
        self->running = UINT32_MAX;
        replica_step (self, &event);
    }
    event.type = TIED_REPLICA_EV_TAKE;
    if (tied_replica_core_can_run (self->core))
        replica_step (self, &event);
    event.type = TIED_REPLICA_EV_TIMEOUT;
    if (tied_replica_core_deadline (self->core) <= now_ns ())
        replica_step (self, &event);
}

/* ---- the client's driver ---- */

static void client_act (struct client *self, const struct tied_client_action *act)
{
    struct tied_message message = {0};

    switch (act->type) {
    case TIED_CLIENT_ACT_SEND_REQUEST:
        message.type = TIED_WIRE_REQUEST;
        message.u.request =
            (struct tied_wire_request){.call = act->call,
                                       .copy = act->u.request.copy,
                                       .method = {"m", 1},
                                       .remaining_us = act->u.request.remaining_ns / 1000,
                                       .flags = act->u.request.flags,
                                       .incarnation = act->u.request.incarnation};
        if (act->u.request.sibling != TIED_NO_REPLICA)
            message.u.request.sibling = (struct tied_view){ids[act->u.request.sibling], 1};
        (void)post (self->fds[act->replica], &message);
        return;
    case TIED_CLIENT_ACT_SEND_CANCEL:
        message.type = TIED_WIRE_CANCEL;
        message.u.cancel = (struct tied_wire_cancel){act->call, act->u.cancel.reason};
        (void)post (self->fds[act->replica], &message);
        return;
    case TIED_CLIENT_ACT_SEND_PING:
        message.type = TIED_WIRE_PING;
        message.u.ping.time_ns = act->u.probe.time;
        (void)post (self->fds[act->replica], &message);
        return;
    case TIED_CLIENT_ACT_COMPLETE:
        self->completed++;
        self->answered += act->u.completion.outcome == TIED_OUTCOME_OK;
        return;
    default: /* ACCEPTED; HELLO: both ends of a socket pair know each other, see make_client () */
        return;
    }
}

static void client_step (struct client *self, const struct tied_client_event *event)
{
    const struct tied_client_action *act;

    if (tied_client_core_step (self->core, event, now_ns ()) != 0)
        return;
    while ((act = tied_client_core_next (self->core)) != NULL)
        client_act (self, act);
}

static void client_receive (struct client *self, uint32_t replica)
{
    unsigned char buffer[1024];
    struct tied_message in;
    struct tied_client_event event = {.replica = replica};
    ssize_t size;

    while ((size = recv (self->fds[replica], buffer, sizeof buffer, MSG_DONTWAIT)) > 0) {
        if (tied_wire_decode (buffer, (size_t)size, &in, NULL) != 0)
            continue;
        if (in.type == TIED_WIRE_REPLY) {
            event.type = TIED_CLIENT_EV_REPLY;
            event.u.reply.call = in.u.reply.call;
            event.u.reply.copy = in.u.reply.copy;
            event.u.reply.status = in.u.reply.status;
            event.u.reply.flags = in.u.reply.flags;
            event.u.reply.load = in.u.reply.load;
        } else if (in.type == TIED_WIRE_REJECT) {
            event.type = TIED_CLIENT_EV_REJECT;
            event.u.reject.call = in.u.reject.call;
            event.u.reject.copy = in.u.reject.copy;
            event.u.reject.reason = in.u.reject.reason;
            event.u.reject.load = in.u.reject.load;
        } else if (in.type == TIED_WIRE_PONG) {
            event.type = TIED_CLIENT_EV_PONG;
            event.u.pong.echo = in.u.ping.time_ns;
            event.u.pong.load = in.u.ping.load;
        } else {
            continue;
        }
        client_step (self, &event);
    }
}

/* ---- putting them together ---- */

static void make_replica (struct replica *self, uint64_t incarnation)
{
    struct tied_replica_core_options options;
    struct tied_replica_event up = {.type = TIED_REPLICA_EV_PEER_UP};
    size_t size;

    tied_replica_core_options_init (&options);
    options.incarnation = incarnation;
    options.workers = 1;
    options.queue_depth = CALLS;
    options.hedge_depth = CALLS;
    options.peers_max = 1;
    size = tied_replica_core_size (&options);
    self->core = tied_replica_core_init (malloc (size), size, &options);
    self->running = UINT32_MAX;
    if (self->core)
        replica_step (self, &up);
}

static void make_client (struct client *self)
{
    struct tied_client_core_options options;
    size_t size;

    tied_client_core_options_init (&options);
    options.epoch = 1;
    options.stagger_floor_ns = 0;
    size = tied_client_core_size (&options);
    self->core = tied_client_core_init (malloc (size), size, &options);
    for (uint32_t i = 0; self->core && i < REPLICAS; i++) {
        struct tied_client_event event = {.type = TIED_CLIENT_EV_LINK_UP, .replica = i};
        (void)!tied_client_core_add_replica (self->core);
        client_step (self, &event);
        event.type = TIED_CLIENT_EV_WELCOME;
        event.u.welcome.incarnation = i + 1;
        event.u.welcome.echo = now_ns ();
        event.u.welcome.id_matches = true;
        client_step (self, &event);
    }
}

static void submit_all (struct client *self)
{
    struct tied_client_event event = {.type = TIED_CLIENT_EV_SUBMIT};

    for (uint32_t i = 0; i < CALLS; i++) {
        event.u.submit = (struct tied_client_submit){.token = i,
                                                     .mode = TIED_MODE_TIED,
                                                     .is_idempotent = true,
                                                     .deadline = now_ns () + TIED_S (30)};
        client_step (self, &event);
    }
}

int main (void)
{
    struct client client = {0};
    struct replica replicas[REPLICAS] = {0};
    const struct tied_replica_counters *a;
    const struct tied_replica_counters *b;
    int peers[2];

    for (uint32_t i = 0; i < REPLICAS; i++) {
        int pair[2];
        if (socketpair (AF_UNIX, SOCK_SEQPACKET, 0, pair) != 0)
            return 1;
        client.fds[i] = pair[0];
        replicas[i].client_fd = pair[1];
    }
    if (socketpair (AF_UNIX, SOCK_SEQPACKET, 0, peers) != 0)
        return 1;
    for (uint32_t i = 0; i < REPLICAS; i++) {
        replicas[i].peer_fd = peers[i];
        make_replica (&replicas[i], i + 1);
    }
    make_client (&client);
    if (!client.core || !replicas[0].core || !replicas[1].core)
        return 1;

    submit_all (&client);
    while (client.completed < CALLS) {
        struct tied_client_event timeout = {.type = TIED_CLIENT_EV_TIMEOUT};
        for (uint32_t i = 0; i < REPLICAS; i++) {
            replica_receive (&replicas[i], replicas[i].peer_fd); /* cancels before requests */
            replica_receive (&replicas[i], replicas[i].client_fd);
            replica_work (&replicas[i]);
            client_receive (&client, i);
        }
        if (tied_client_core_deadline (client.core) <= now_ns ())
            client_step (&client, &timeout);
    }

    a = tied_replica_core_counters (replicas[0].core);
    b = tied_replica_core_counters (replicas[1].core);
    printf ("%u of %d calls answered; executed %llu, dropped by the sibling's start %llu\n",
            client.answered, CALLS, (unsigned long long)(a->executed + b->executed),
            (unsigned long long)(a->dropped + b->dropped + a->tombstoned + b->tombstoned));
    for (uint32_t i = 0; i < REPLICAS; i++) {
        tied_replica_core_check (replicas[i].core);
        close (client.fds[i]);
        close (replicas[i].client_fd);
        close (replicas[i].peer_fd);
        free (replicas[i].core);
    }
    free (client.core);
    return client.answered != CALLS;
}
