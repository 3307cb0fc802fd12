/* SPDX-License-Identifier: MIT */
/* What the commands of tied-client share: the values of the command line and how to connect. */
#ifndef TIED_CLIENT_APP_H
#define TIED_CLIENT_APP_H

#include <tied/client.h>

#include "tools/cli.h"
#include "tools/report.h"

#define APP_REPLICAS_MAX 64
#define APP_POLICIES_MAX 8

struct app {
    const struct ti_cli *cli;
    char command[1024]; /* the command line as it was given, for the report */
    struct ti_pair pairs[APP_REPLICAS_MAX];
    struct ti_pairs replicas;
    uint64_t stagger_ns; /* of ties that name none; TIED_STAGGER_AUTO: measured */
    uint64_t timeout_ns;
    const char *policy_file; /* NULL: none */
    /* call */
    uint32_t mode;
    uint32_t is_idempotent;
    bool has_mode, has_idempotent;
    bool is_verbose;
    const char *key; /* NULL: none */
    /* bench */
    bool has_rate, has_outstanding;
    double rate;
    uint32_t outstanding;
    uint64_t duration_ns, warmup_ns, align_ns;
    uint32_t slices;
    const char *policy_items[APP_POLICIES_MAX];
    struct ti_strings policies;
    const char *method;
    uint64_t body_size;
    uint64_t seed;
    const char *json, *report, *record;
    /* advise */
    const char *recording; /* NULL: measure */
    uint32_t declared;     /* enum advice_declared */
    uint32_t extra_load_ppm;
};

/* Each returns the exit code of the program. */
int app_call (struct app *app, const struct ti_cli_result *line);
int app_ping (struct app *app);
int app_stats (struct app *app);
int app_bench (struct app *app);
int app_advise (struct app *app);
/* A share such as 5%, for the command line. value: uint32_t, parts per million. */
int app_parse_share (void *value, const char *text, char *why);

/* An idempotency key. value: const char *. */
int app_parse_key (void *value, const char *text, char *why);

/* "tied-client: TEXT" to stderr. @return TI_EXIT_FAILED */
int app_fail (const char *format, ...) __attribute__ ((format (printf, 1, 2)));
/* That path, or NULL: standard output, cannot be written, from errno. @return TI_EXIT_FAILED */
int app_fail_write (const char *path);

/* 0 if METHOD can be one, else TI_EXIT_USAGE after a line that names `where` it was given. */
int app_check_method (const struct app *app, const char *where, const char *method);
/* 0 if the file can be expected to be writable, or is NULL; else TI_EXIT_FAILED after a line. */
int app_check_output (const char *path);

/* Default options of this program: CALLER drive. */
void app_options (const struct app *app, struct tied_client_options *options);
/* For a client that takes its settings from --policies: all methods that a file can have. */
void app_options_for_file (struct tied_client_options *options);
/* A started client that knows the replicas from first on, count of them; NULL after a line. */
tied_client_t *app_connect (const struct app *app,
                            const struct tied_client_options *options,
                            uint32_t first,
                            uint32_t count);
/* Names the first replica that cannot be used now, and why; false when there is none. */
#define APP_ABSENT_MAX 512
bool app_absent_replica (const struct app *app, tied_client_t *client, char *text, size_t size);
/* 0 when all replicas can be used in time, else the exit code after a line that names the first
   one that cannot. */
int app_await_replicas (const struct app *app, tied_client_t *client, uint64_t timeout_ns);

#endif
