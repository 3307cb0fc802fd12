/* SPDX-License-Identifier: MIT */
/*
 * One real replica and three hand-made connections to it: to its client endpoint, to its peer
 * endpoint, and an honest client that notices when somebody else's bytes do harm.
 */
#ifndef TIED_TEST_SCENE_H
#define TIED_TEST_SCENE_H

#include "cluster.h"

#include <errno.h>

#define SCENE_FRAMES_MAX 65
/* What a heap may move by, with its arenas and the sockets' buffers. */
#define SCENE_FLAT (6u << 20)

struct scene {
    struct cluster cluster;
    struct wire_client client; /* to the client endpoint */
    struct wire_client peer;   /* to the peer endpoint; no peer is configured there but "b" */
    struct wire_client lively; /* an honest client */
    uint64_t calls;
};

static inline void open_scene (struct scene *scene, const char *service, const char *body_max)
{
    memset (scene, 0, sizeof *scene);
    cluster_init (&scene->cluster, 2);
    cluster_start (&scene->cluster, 0, "--workers", "1", "--service", service, "--body-max",
                   body_max, NULL);
    wire_open (&scene->client, scene->cluster.nodes[0].client);
    wire_open (&scene->peer, scene->cluster.nodes[0].peer);
    wire_open (&scene->lively, scene->cluster.nodes[0].client);
}

static inline void close_scene (struct scene *scene)
{
    wire_close (&scene->client);
    wire_close (&scene->peer);
    wire_close (&scene->lively);
    cluster_close (&scene->cluster);
}

static inline uint64_t stat_of (struct scene *scene, const char *name)
{
    return cluster_stat (&scene->cluster, 0, name);
}

/* Somebody else's call. */
static inline void check_alive (struct scene *scene)
{
    struct tied_message message = wire_request (1000000 + scene->calls++, 0, "echo", "hi", 2);

    message.u.request.call.epoch = 4711;
    wire_send (&scene->lively, &message);
    wire_expect (&scene->lively, TIED_WIRE_REPLY);
    CHECK_U64 (scene->lively.in.u.reply.call.sequence, ==, message.u.request.call.sequence);
    CHECK_U64 (scene->lively.in.u.reply.status, ==, 0);
    CHECK_TRUE (process_is_alive (scene->cluster.nodes[0].process));
}

/* Answers are of no interest, but must not pile up. */
static inline void skip_answers (struct wire_client *self)
{
    zmq_msg_t frame;

    zmq_msg_init (&frame);
    while (zmq_msg_recv (&frame, self->sock, ZMQ_DONTWAIT) >= 0) {
    }
    zmq_msg_close (&frame);
}

static inline void
send_frames (struct wire_client *self, const struct tied_view *frames, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        int more = i + 1 < count ? ZMQ_SNDMORE : 0;
        while (zmq_send (self->sock, frames[i].data, frames[i].size, more | ZMQ_DONTWAIT) < 0) {
            zmq_pollitem_t item = {self->sock, 0, ZMQ_POLLOUT, 0};
            CHECK_I64 (errno, ==, EAGAIN);
            skip_answers (self);
            CHECK_I64 (zmq_poll (&item, 1, WIRE_BOUND_MS), ==, 1);
        }
    }
    skip_answers (self);
}

#endif
