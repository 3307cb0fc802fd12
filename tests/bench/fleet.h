/* SPDX-License-Identifier: MIT */
/*
 * Server processes of a benchmark: forked before the parent has any thread or ZeroMQ context,
 * killed at its end, and by the kernel if it dies. Loopback TCP, ports of the kernel's choice.
 */
#ifndef BENCH_FLEET_H
#define BENCH_FLEET_H

#include <sys/types.h>

#include <tied/client.h>
#include <tied/replica.h>
#include <tied/wire.h>

#define BENCH_REPLICAS_MAX  64
#define BENCH_ENDPOINT_MAX  64
#define BENCH_BODY_SIZE     64
#define BENCH_METHOD        "echo"
#define BENCH_WARM_UP       TIED_MS (150)
#define BENCH_SAMPLES_MAX   (1u << 20)
#define BENCH_CALLS_TIMEOUT TIED_S (10)

struct bench_child {
    pid_t pid;
    int channel; /* seqpacket socket to the process */
};

/* Run body (channel, arg) in a process of its own; body must not return. */
struct bench_child bench_fork (void (*body) (int channel, void *arg), void *arg);
void bench_child_end (struct bench_child *self);
void bench_channel_send (int channel, const void *data, size_t size);
void bench_channel_recv (int channel, void *data, size_t size);

struct bench_fleet {
    uint32_t count;
    struct bench_child children[BENCH_REPLICAS_MAX];
    char endpoints[BENCH_REPLICAS_MAX][BENCH_ENDPOINT_MAX];
};

/* Replicas "r0", "r1", ... that know each other as peers and serve BENCH_METHOD with fn. */
struct bench_fleet_setup {
    uint32_t count;
    struct tied_replica_options options; /* the id is set per replica */
    tied_handler_fn *fn;
    void *arg;
};

void bench_fleet_start (struct bench_fleet *self, const struct bench_fleet_setup *setup);
void bench_fleet_end (struct bench_fleet *self);
/* In a replica's process: its number. */
uint32_t bench_fleet_self (void);

/* A started client of all replicas that has seen all of them ready. */
tied_client_t *bench_fleet_client (const struct bench_fleet *self,
                                   const struct tied_client_options *options);

/* Answers with the request's body. */
void bench_echo (tied_request_t *request, void *arg);

/* The header that a client sends for one copy of a tied call with a body of BENCH_BODY_SIZE. */
void bench_request_message (struct tied_message *out, const void *body);

#endif
