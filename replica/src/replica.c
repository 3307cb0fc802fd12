/* SPDX-License-Identifier: MIT */
/* Life of a replica, from new to destroy. */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/util.h"
#include "engine.h"
#include "zmq/clock.h"
#include "zmq/panic.h"

/* Above body_max, so that an honest client that exceeds it gets an answer and not a broken
   connection. */
#define FRAME_SLACK (256 * 1024)
/* Bounds of the receiving high-water mark, see receive_hwm (). */
#define RECEIVE_MIN       1000
#define RECEIVE_MIN_LARGE 256

static int make_tables (tied_replica_t *self)
{
    const struct tied_replica_core_options *core = &self->options.core;
    uint32_t peers = core->peers_max ? core->peers_max : 1;
    size_t size = tied_replica_core_size (core);
    void *memory = malloc (size);

    self->core = memory ? tied_replica_core_init (memory, size, core) : NULL;
    if (!self->core) {
        free (memory);
        return TIED_ERR_NOMEM;
    }
    self->slots_count = tied_replica_core_slots (self->core);
    self->slots = calloc (self->slots_count, sizeof *self->slots);
    self->peers = calloc (peers, sizeof *self->peers);
    self->route_peer = calloc (peers, sizeof *self->route_peer);
    self->methods = calloc (TI_METHODS_MAX, sizeof *self->methods);
    if (!self->slots || !self->peers || !self->route_peer || !self->methods ||
        ti_routes_init (&self->clients, core->clients_max, ti_random_u64 ()) != 0 ||
        ti_routes_init (&self->peer_routes, peers, ti_random_u64 ()) != 0 ||
        ti_names_init (&self->peer_names, core->peers_max) != 0 ||
        ti_names_init (&self->method_names, TI_METHODS_MAX) != 0 ||
        ti_results_init (&self->results, self->options.results_max, self->options.results_bytes,
                         self->options.results_ttl_ns, ti_random_u64 ()) != 0)
        return TIED_ERR_NOMEM;
    for (uint32_t i = 0; i < self->slots_count; i++) {
        self->slots[i].replica = self;
        self->slots[i].slot = i;
        self->slots[i].cancel_fd = -1;
        self->slots[i].result = TI_RESULT_NONE;
    }
    return 0;
}

static int make_system (tied_replica_t *self)
{
    pthread_condattr_t attributes;

    if (pthread_condattr_init (&attributes) != 0)
        return TIED_ERR_SYSTEM;
    (void)pthread_condattr_setclock (&attributes, CLOCK_MONOTONIC);
    (void)pthread_mutex_init (&self->lock, NULL);
    (void)pthread_cond_init (&self->changed, &attributes);
    (void)pthread_condattr_destroy (&attributes);
    self->loop = ti_loop_new ();
    self->context = self->options.zmq_context;
    if (!self->context) {
        self->owns_context = true;
        self->context = zmq_ctx_new ();
        if (self->context)
            (void)zmq_ctx_set (self->context, ZMQ_MAX_SOCKETS,
                               (int)(16 + TI_LINK_SOCKETS * self->options.core.peers_max));
    }
    return self->loop && self->context ? 0 : TIED_ERR_SYSTEM;
}

tied_replica_t *tied_replica_new (const struct tied_replica_options *options)
{
    tied_replica_t *self;

    if (tied_replica_options_check (options, NULL) != 0)
        return NULL;
    ti_panic_install ();
    self = calloc (1, sizeof *self);
    if (!self)
        return NULL;
    self->options = *options;
    self->id_size = strlen (options->id);
    memcpy (self->id, options->id, self->id_size);
    self->options.id = self->id;
    if (self->options.core.incarnation == 0)
        self->options.core.incarnation = ti_random_u64 ();
    if (self->options.core.seed == 0)
        self->options.core.seed = ti_random_u64 ();
    self->armed = TIED_NEVER;
    self->bite = options->batch_max;
    atomic_init (&self->references, 1);
    if (make_system (self) != 0 || make_tables (self) != 0)
        tied_replica_destroy (&self);
    return self;
}

/* The last reference is gone: no thread is left, the sockets are closed. */
static void free_all (tied_replica_t *self)
{
    for (uint32_t i = 0; self->slots && i < self->slots_count; i++) {
        if (self->slots[i].state != TI_REQUEST_FREE)
            ti_request_free (&self->slots[i]);
    }
    free (self->core);
    free (self->slots);
    free (self->peers);
    free (self->route_peer);
    free (self->methods);
    free (self->threads);
    ti_keys_deinit (self);
    ti_routes_deinit (&self->clients);
    ti_routes_deinit (&self->peer_routes);
    ti_names_deinit (&self->peer_names);
    ti_names_deinit (&self->method_names);
    ti_loop_destroy (&self->loop);
    (void)pthread_cond_destroy (&self->changed);
    (void)pthread_mutex_destroy (&self->lock);
    free (self);
}

void ti_replica_unref (tied_replica_t *self)
{
    if (atomic_fetch_sub (&self->references, 1) == 1)
        free_all (self);
}

void tied_replica_destroy (tied_replica_t **self_p)
{
    if (!self_p || !*self_p)
        return;
    tied_replica_t *self = *self_p;
    void *context = self->owns_context ? self->context : NULL;

    TI_ASSERT (!ti_is_serving (self));
    *self_p = NULL;
    if (self->loop)
        ti_replica_halt (self);
    ti_replica_unref (self);
    while (context && zmq_ctx_term (context) != 0 && zmq_errno () == EINTR)
        continue;
}

/* Messages that libzmq may keep of one connection before the replica looks at them; beyond, the
   sender's own system keeps them. The queue of the core is the limit, this a safety net behind it,
   and where bodies may be large a tighter one; never so tight that it holds up a client with many
   small calls. */
static uint32_t receive_hwm (const tied_replica_t *self, uint32_t body_max)
{
    uint64_t by_count = ti_max (RECEIVE_MIN, 2 * (uint64_t)self->options.core.queue_depth);
    uint64_t by_bytes = self->options.queue_bytes / ti_max (body_max, 1);

    return (uint32_t)ti_min (by_count, ti_max (by_bytes, RECEIVE_MIN_LARGE));
}

static int bind_one (
    tied_replica_t *self, void **sock_p, const char *endpoint, char *out_endpoint, size_t capacity)
{
    bool is_for_peers = sock_p == &self->peers_sock;
    uint32_t body_max = is_for_peers ? 0 : self->options.body_max;
    uint32_t inline_max = is_for_peers ? 0 : self->options.inline_max;
    struct ti_sock_options options = {.type = ZMQ_ROUTER,
                                      .send_hwm = self->options.reply_queue,
                                      .recv_hwm = receive_hwm (self, body_max),
                                      .frame_max = FRAME_SLACK + (int64_t)body_max + inline_max};

    if (!endpoint)
        return TIED_ERR_INVAL;
    if (self->state != TI_REPLICA_NEW)
        return TIED_ERR_STATE;
    if (!*sock_p)
        *sock_p = ti_sock_new (self->context, &options);
    return *sock_p ? ti_sock_bind (*sock_p, endpoint, out_endpoint, capacity) : TIED_ERR_SYSTEM;
}

int tied_replica_bind (tied_replica_t *self, const char *endpoint)
{
    int rc;

    if (!self)
        return TIED_ERR_INVAL;
    ti_engine_lock (self);
    rc = bind_one (self, &self->clients_sock, endpoint, self->clients_endpoint,
                   sizeof self->clients_endpoint);
    ti_engine_unlock (self);
    return rc;
}

int tied_replica_bind_peers (tied_replica_t *self, const char *endpoint)
{
    int rc;

    if (!self)
        return TIED_ERR_INVAL;
    ti_engine_lock (self);
    rc = bind_one (self, &self->peers_sock, endpoint, self->peers_endpoint,
                   sizeof self->peers_endpoint);
    ti_engine_unlock (self);
    return rc;
}

const char *tied_replica_endpoint (const tied_replica_t *self)
{
    return self && self->clients_endpoint[0] ? self->clients_endpoint : NULL;
}

const char *tied_replica_peer_endpoint (const tied_replica_t *self)
{
    return self && self->peers_endpoint[0] ? self->peers_endpoint : NULL;
}

static int open_peer (tied_replica_t *self, const char *id, size_t size, const char *endpoint)
{
    /* STARTED of all copies that may start while the peer does not read, and as many UNTIE. */
    struct ti_sock_options options = {
        .type = ZMQ_DEALER,
        .send_hwm = (uint32_t)ti_max (1000, 2 * (uint64_t)self->options.core.queue_depth),
        .recv_hwm = 1000,
        .frame_max = FRAME_SLACK};
    struct ti_link link;
    int index;
    int rc;

    if (self->state != TI_REPLICA_NEW)
        return TIED_ERR_STATE;
    if (ti_names_find (&self->peer_names, id, size) != TI_NAME_NONE)
        return TIED_ERR_EXISTS;
    if (self->peer_names.count == self->peer_names.max)
        return TIED_ERR_FULL;
    rc = ti_link_open (&link, self->context, endpoint, &options);
    if (rc != 0)
        return rc;
    index = ti_names_add (&self->peer_names, id, size);
    self->peers[index] = (struct ti_peer){.link = link, .route = TI_ROUTE_NONE};
    return 0;
}

int tied_replica_add_peer (tied_replica_t *self, const char *id, const char *endpoint)
{
    size_t size = id ? strnlen (id, TIED_NAME_MAX + 1) : 0;
    int rc;

    if (!self || !endpoint || size < 1 || size > TIED_NAME_MAX || strcmp (id, self->id) == 0)
        return TIED_ERR_INVAL;
    ti_engine_lock (self);
    rc = open_peer (self, id, size, endpoint);
    ti_engine_unlock (self);
    return rc;
}

int tied_replica_handle (tied_replica_t *self, const char *method, tied_handler_fn *fn, void *arg)
{
    size_t size = method ? strnlen (method, TIED_NAME_MAX + 1) : 0;
    int rc;

    if (!self || size < 1 || size > TIED_NAME_MAX || strncmp (method, "tied.", 5) == 0)
        return TIED_ERR_INVAL;
    if ((fn == NULL) != (self->options.service == TIED_SERVICE_PULL))
        return TIED_ERR_INVAL;
    ti_engine_lock (self);
    rc = self->state == TI_REPLICA_NEW ? ti_names_add (&self->method_names, method, size)
                                       : TIED_ERR_STATE;
    if (rc >= 0) {
        self->methods[rc] = (struct ti_method){.fn = fn, .arg = arg};
        rc = 0;
    }
    ti_engine_unlock (self);
    return rc;
}

static int watch_all (tied_replica_t *self)
{
    int rc = ti_loop_add_edge (self->loop, ti_sock_fd (self->clients_sock), TI_TAG_CLIENTS);

    if (rc == 0 && self->peers_sock)
        rc = ti_loop_add_edge (self->loop, ti_sock_fd (self->peers_sock), TI_TAG_PEERS);
    for (uint32_t i = 0; rc == 0 && i < self->peer_names.count; i++) {
        rc = ti_loop_add_edge (self->loop, self->peers[i].link.fd, TI_TAG_LINK + i);
        self->peers[i].is_dirty = true;
    }
    return rc;
}

int tied_replica_start (tied_replica_t *self)
{
    int rc;

    if (!self)
        return TIED_ERR_INVAL;
    ti_engine_lock (self);
    if (self->state != TI_REPLICA_NEW || !self->clients_endpoint[0]) {
        ti_engine_unlock (self);
        return TIED_ERR_STATE;
    }
    rc = watch_all (self);
    self->dirty = TI_DIRTY_ALL;
    self->state = TI_REPLICA_RUNNING;
    /* The host's event loop must come here once even if nothing arrives. */
    ti_loop_kick (self->loop);
    ti_engine_unlock (self);
    if (rc == 0)
        rc = ti_threads_start (self);
    if (rc != 0)
        ti_replica_halt (self);
    return rc;
}
