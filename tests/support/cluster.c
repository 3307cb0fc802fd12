/* SPDX-License-Identifier: MIT */
#include "cluster.h"

#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>

#include <msgpack.h>

#include "free_policy.h"

/* Between two looks at counters that another process changes. */
#define LOOK_EVERY_MS 1
/* Three of these without a word make a replica suspect, and its calls run elsewhere as well: one
   that is merely short of a processor is not to be. */
#define HEARTBEAT S (10)
/* The same of all that a replica does when a time is over in which it heard nothing: a client that
   only waits stays, and words about copies that have not come are kept. */
#define PATIENT  "--client-silence", "1h", "--recent-ttl", "1h", "--park-lease", "1h"
#define OWN_ARGS 13

void cluster_init (struct cluster *self, uint32_t count)
{
    memset (self, 0, sizeof *self);
    CHECK_U64 (count, <=, CLUSTER_MAX);
    self->count = count;
    for (uint32_t i = 0; i < count; i++) {
        self->nodes[i].id[0] = (char)('a' + i);
        proxy_free_endpoint (self->nodes[i].client);
        proxy_free_endpoint (self->nodes[i].peer);
    }
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < count; j++)
            memcpy (self->seen[i][j], self->nodes[j].peer, sizeof self->seen[i][j]);
    }
}

void cluster_start (struct cluster *self, uint32_t index, ...)
{
    struct cluster_node *node = &self->nodes[index];
    const char *argv[CLUSTER_ARGS + 4 * CLUSTER_MAX] = {
        TIED_REPLICA_PROGRAM, "--id",        node->id,   "--bind",
        node->client,         "--peer-bind", node->peer, PATIENT};
    char pairs[CLUSTER_MAX][80];
    uint32_t argc = OWN_ARGS;
    const char *argument;
    const char *line;
    va_list args;

    for (uint32_t j = 0; j < self->count; j++) {
        if (j == index || !self->seen[index][j][0])
            continue;
        (void)snprintf (pairs[j], sizeof pairs[j], "%s=%s", self->nodes[j].id,
                        self->seen[index][j]);
        argv[argc++] = "--peer";
        argv[argc++] = pairs[j];
    }
    va_start (args, index);
    while ((argument = va_arg (args, const char *)) != NULL) {
        CHECK_U64 (argc, <, CLUSTER_ARGS + 4 * CLUSTER_MAX - 1);
        argv[argc++] = argument;
    }
    va_end (args);
    argv[argc] = NULL;
    process_free (&node->process);
    node->process = process_start (argv);
    line = process_line (node->process);
    if (!line)
        print_error ("replica %s: %s\n", node->id, process_errors (node->process));
    CHECK_TRUE (line && strncmp (line, "ready ", 6) == 0);
}

void cluster_await_links (struct cluster *self, uint32_t index, uint32_t links)
{
    cluster_await (self, index, "frames_peer", 2 * (uint64_t)links);
}

void cluster_run (struct cluster *self, uint32_t count, const char *service)
{
    cluster_init (self, count);
    for (uint32_t i = 0; i < count; i++)
        cluster_start (self, i, "--workers", "1", "--service", service, NULL);
    for (uint32_t i = 0; i < count; i++)
        cluster_await_links (self, i, count - 1);
}

static bool has_name (const msgpack_object *key, const char *name)
{
    return key->type == MSGPACK_OBJECT_STR && key->via.str.size == strlen (name) &&
           memcmp (key->via.str.ptr, name, strlen (name)) == 0;
}

static uint64_t find (const void *data, size_t size, const char *name)
{
    msgpack_unpacked result;
    uint64_t value = UINT64_MAX;
    size_t at = 0;

    msgpack_unpacked_init (&result);
    CHECK_I64 (msgpack_unpack_next (&result, data, size, &at), ==, MSGPACK_UNPACK_SUCCESS);
    CHECK_I64 (result.data.type, ==, MSGPACK_OBJECT_MAP);
    for (uint32_t i = 0; i < result.data.via.map.size; i++) {
        const msgpack_object_kv *pair = &result.data.via.map.ptr[i];
        if (has_name (&pair->key, name))
            value = pair->val.via.u64;
    }
    msgpack_unpacked_destroy (&result);
    if (value == UINT64_MAX)
        print_error ("no counter has the name %s\n", name);
    CHECK_U64 (value, !=, UINT64_MAX);
    return value;
}

uint64_t cluster_stat (struct cluster *self, uint32_t index, const char *name)
{
    struct cluster_node *node = &self->nodes[index];
    struct tied_message ask;

    if (!node->looker.sock)
        wire_open (&node->looker, node->client);
    ask = wire_request (++node->looks, 0, "tied.stats", NULL, 0);
    wire_send (&node->looker, &ask);
    wire_expect (&node->looker, TIED_WIRE_REPLY);
    CHECK_U64 (node->looker.in.u.reply.call.sequence, ==, node->looks);
    return find (node->looker.body, node->looker.body_size, name);
}

uint64_t cluster_sum (struct cluster *self, const char *name)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < self->count; i++) {
        if (self->nodes[i].process)
            sum += cluster_stat (self, i, name);
    }
    return sum;
}

static void
await (struct cluster *self, uint32_t index, const char *name, uint64_t low, uint64_t high)
{
    tied_time_t until = ti_clock_now () + MS (PROCESS_BOUND_MS);
    uint64_t value;

    while ((value = cluster_stat (self, index, name)) < low || value > high) {
        if (ti_clock_now () > until) {
            print_error ("%s of replica %s is %" PRIu64 " and never in [%" PRIu64 ", %" PRIu64
                         "]\n",
                         name, self->nodes[index].id, value, low, high);
            CHECK_TRUE (false);
        }
        (void)poll (NULL, 0, LOOK_EVERY_MS);
    }
}

void cluster_await (struct cluster *self, uint32_t index, const char *name, uint64_t value)
{
    await (self, index, name, value, UINT64_MAX);
}

void cluster_await_equal (struct cluster *self, uint32_t index, const char *name, uint64_t value)
{
    await (self, index, name, value, value);
}

void cluster_await_sum (struct cluster *self, const char *name, uint64_t value)
{
    tied_time_t until = ti_clock_now () + MS (PROCESS_BOUND_MS);
    uint64_t sum;

    while ((sum = cluster_sum (self, name)) < value) {
        if (ti_clock_now () > until) {
            print_error ("%s of all is %" PRIu64 " and never %" PRIu64 "\n", name, sum, value);
            CHECK_TRUE (false);
        }
        (void)poll (NULL, 0, LOOK_EVERY_MS);
    }
}

static void forget (struct cluster_node *node)
{
    wire_close (&node->looker);
    process_free (&node->process);
}

void cluster_kill (struct cluster *self, uint32_t index)
{
    process_signal (self->nodes[index].process, SIGKILL);
    CHECK_I64 (process_wait (self->nodes[index].process), ==, -SIGKILL);
    forget (&self->nodes[index]);
}

void cluster_stop (struct cluster *self, uint32_t index)
{
    struct process *process = self->nodes[index].process;
    int code;

    wire_close (&self->nodes[index].looker);
    process_signal (process, SIGTERM);
    code = process_wait (process);
    if (code != 0)
        print_error ("replica %s: %s\n", self->nodes[index].id, process_errors (process));
    CHECK_I64 (code, ==, 0);
    forget (&self->nodes[index]);
}

void cluster_close (struct cluster *self)
{
    for (uint32_t i = 0; i < self->count; i++) {
        if (self->nodes[i].process)
            cluster_stop (self, i);
    }
}

tied_client_t *cluster_client (struct cluster *self, const struct tied_client_options *options)
{
    struct tied_client_options defaults;
    tied_client_t *client;
    uint32_t running = 0;

    tied_client_options_init (&defaults);
    defaults.core.heartbeat_ns = HEARTBEAT;
    client = tied_client_new (options ? options : &defaults);
    CHECK_TRUE (client != NULL);
    set_free_client_policy (client);
    for (uint32_t i = 0; i < self->count; i++) {
        CHECK_I64 (tied_client_add_replica (client, self->nodes[i].id, self->nodes[i].client), ==,
                   0);
        running += self->nodes[i].process != NULL;
    }
    CHECK_I64 (tied_client_start (client), ==, 0);
    CHECK_I64 (tied_client_wait_ready (client, running, MS (PROCESS_BOUND_MS)), ==, 0);
    return client;
}

tied_client_t *cluster_client_through (struct cluster *self, uint32_t index, struct proxy **proxy)
{
    struct cluster_node *node = &self->nodes[index];
    tied_client_t *client;
    char direct[sizeof node->client];

    *proxy = proxy_new (node->client);
    memcpy (direct, node->client, sizeof direct);
    memcpy (node->client, proxy_endpoint (*proxy), sizeof direct);
    client = cluster_client (self, NULL);
    memcpy (node->client, direct, sizeof direct);
    return client;
}
