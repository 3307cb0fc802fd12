/* SPDX-License-Identifier: MIT */
/* tied-client call, ping and stats: one look at the replicas, printed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app.h"
#include "base/util.h"
#include "replica_stats.h"
#include "text/units.h"
#include "zmq/clock.h"

/* Round trips are measured with PINGs; this often, so that a person does not wait. */
#define PING_EVERY TIED_MS (5)
/* The smoothed round trip has settled after so long. */
#define PING_FOR TIED_MS (100)

static const char *const state_names[] = {"down", "greeted", "up", "suspect", "misnamed"};

/* What a status says that is not the handler's; NULL: it is. */
static const char *special_status (uint32_t status)
{
    switch (status) {
    case TIED_STATUS_KEY_REUSED:
        return "not executed: this --key came before with another body; give another one";
    case TIED_STATUS_REPLY_TOO_LARGE:
        return "executed, but its reply is larger than this program takes";
    default:
        return NULL;
    }
}

static void print_details (const struct tied_reply *reply)
{
    const struct tied_client_completion *details = &reply->details;
    char text[TI_UNITS_TEXT_MAX];

    fprintf (stderr, "outcome    %s\n", tied_outcome_name ((int)details->outcome));
    if (details->status && !special_status (details->status))
        fprintf (stderr, "status     %" PRIu32 "\n", details->status);
    if (details->reject)
        fprintf (stderr, "rejected   %s\n", tied_reject_name ((int)details->reject));
    if (reply->winner_id)
        fprintf (stderr, "winner     %s, copy %u\n", reply->winner_id, details->winner_copy);
    fprintf (stderr, "copies     %" PRIu32 "\n", details->copies_sent);
    if (details->not_sent)
        fprintf (stderr, "not sent   %s\n", tied_not_sent_name ((int)details->not_sent));
    if (details->hedge_not_sent)
        fprintf (stderr, "no hedge   %s\n", tied_not_sent_name ((int)details->hedge_not_sent));
    fprintf (stderr, "latency    %s ms\n", ti_format_ms (details->latency_ns, text));
    fprintf (stderr, "queue      %s ms\n", ti_format_ms (details->queue_ns, text));
    fprintf (stderr, "service    %s ms\n", ti_format_ms (details->service_ns, text));
    fprintf (stderr, "stagger    %s ms\n", ti_format_ms (details->stagger_ns, text));
    fprintf (stderr, "both ran   %s\n", details->both_ran ? "yes" : "no");
    fprintf (stderr, "repeated   %s\n", reply->is_repeated ? "yes" : "no");
    fprintf (stderr, "body       %zu bytes\n", reply->body_size);
}

/* The handler's own error, and what it says of it. */
static int report_error (const char *method, const struct tied_reply *reply)
{
    const uint32_t status = reply->details.status;
    char quoted[TI_QUOTE_MAX], said[TI_QUOTE_MAX], text[TI_QUOTE_MAX];

    if (special_status (status))
        return app_fail ("call %s: %s", ti_quote (method, quoted), special_status (status));
    (void)snprintf (text, sizeof text, "%.*s", (int)ti_min (reply->body_size, sizeof text - 1),
                    reply->body ? (const char *)reply->body : "");
    return app_fail ("call %s: app_error (status %" PRIu32 ")%s%s", ti_quote (method, quoted),
                     status, text[0] ? ": " : "", text[0] ? ti_quote (text, said) : "");
}

static int report_failure (const struct app *app,
                           tied_client_t *client,
                           const char *method,
                           const struct tied_reply *reply)
{
    const struct tied_client_completion *details = &reply->details;
    char quoted[TI_QUOTE_MAX];
    char reason[64] = "", absent[APP_ABSENT_MAX] = "";
    bool is_absent = false;

    if (details->outcome == TIED_OUTCOME_APP_ERROR)
        return report_error (method, reply);
    if (details->reject)
        snprintf (reason, sizeof reason, " (%s)", tied_reject_name ((int)details->reject));
    /* Nobody answered: that may be because somebody is not there. */
    if (details->outcome == TIED_OUTCOME_UNAVAILABLE || details->outcome == TIED_OUTCOME_DEADLINE)
        is_absent = app_absent_replica (app, client, absent, sizeof absent);
    return app_fail ("call %s: %s%s, %s%s%s", ti_quote (method, quoted),
                     tied_outcome_name ((int)details->outcome), reason,
                     details->may_have_executed ? "may have executed" : "not executed",
                     is_absent ? ": " : "", absent);
}

static int print_body (const struct tied_reply *reply)
{
    if (reply->body_size > 0)
        (void)fwrite (reply->body, 1, reply->body_size, stdout);
    if (isatty (STDOUT_FILENO))
        putchar ('\n');
    if (fflush (stdout) != 0)
        return app_fail ("cannot write the body to standard output");
    return TI_EXIT_OK;
}

int app_parse_key (void *value, const char *text, char *why)
{
    if (!text[0] || strlen (text) > TIED_KEY_MAX)
        return ti_cli_refuse (why, "a key has 1 to %d bytes", TIED_KEY_MAX);
    *(const char **)value = text;
    return 0;
}

int app_call (struct app *app, const struct ti_cli_result *line)
{
    struct tied_client_options options;
    struct tied_call call;
    struct tied_reply reply;
    const char *body = line->operands_count > 1 ? line->operands[1] : "";
    char quoted[TI_QUOTE_MAX], why[TIED_POLICIES_ERROR_MAX];
    tied_client_t *client;
    int rc = app_check_method (app, "METHOD", line->operands[0]);

    if (rc != 0)
        return rc;
    app_options (app, &options);
    if (app->policy_file)
        app_options_for_file (&options);
    client = app_connect (app, &options, 0, app->replicas.count);
    if (!client)
        return TI_EXIT_FAILED;
    if (app->policy_file &&
        tied_client_load_policies (client, app->policy_file, why, sizeof why) != 0) {
        tied_client_destroy (&client);
        return app_fail ("%s", why);
    }
    /* A tied call is worth waiting for its second replica, but not more than a moment. */
    (void)!tied_client_wait_ready (client, app->replicas.count,
                                   ti_min (app->timeout_ns / 4, TIED_MS (250)));
    tied_call_init (&call, line->operands[0], body, strlen (body));
    /* A file speaks unless the command line does. */
    if (!app->policy_file || app->has_mode)
        call.mode = app->mode;
    if (!app->policy_file || app->has_idempotent)
        call.is_idempotent = app->is_idempotent != 0;
    if (app->key) {
        call.key = app->key;
        call.key_size = strlen (app->key);
    }
    rc = tied_client_call (client, &call, &reply);
    if (rc != 0) {
        rc = app_fail ("call %s: %s", ti_quote (call.method, quoted), tied_error_text (rc));
    } else {
        if (app->is_verbose)
            print_details (&reply);
        rc = reply.details.outcome == TIED_OUTCOME_OK
                 ? print_body (&reply)
                 : report_failure (app, client, call.method, &reply);
        tied_reply_release (&reply);
    }
    tied_client_destroy (&client);
    return rc;
}

int app_ping (struct app *app)
{
    struct tied_client_options options;
    tied_client_t *client;
    tied_time_t until;
    int rc;

    app_options (app, &options);
    options.core.heartbeat_ns = PING_EVERY;
    options.core.heartbeat_misses = 100;
    client = app_connect (app, &options, 0, app->replicas.count);
    if (!client)
        return TI_EXIT_FAILED;
    rc = tied_client_wait_ready (client, app->replicas.count, app->timeout_ns);
    until = ti_clock_now () + PING_FOR;
    for (tied_time_t now = 0; (now = ti_clock_now ()) < until;)
        (void)!tied_client_poll (client, until - now);
    printf ("%-16s %-9s %10s %7s %8s %9s  %s\n", "replica", "state", "trip ms", "depth", "running",
            "wait ms", "endpoint");
    for (uint32_t i = 0; i < app->replicas.count; i++) {
        const struct ti_pair *pair = &app->replicas.items[i];
        struct tied_client_replica replica;
        char trip[TI_UNITS_TEXT_MAX];
        char wait[TI_UNITS_TEXT_MAX];

        if (tied_client_replica (client, pair->id, &replica) != 0)
            continue;
        ti_format_ms (replica.round_trip_ns, trip);
        ti_format_ms (ti_ns_from_us (replica.load.wait_us), wait);
        printf ("%-16s %-9s %10s %7" PRIu32 " %8" PRIu32 " %9s  %s\n", pair->id,
                state_names[replica.state], replica.round_trip_ns ? trip : "-", replica.load.depth,
                replica.load.running, wait, pair->endpoint);
    }
    rc = rc == 0 ? TI_EXIT_OK : app_await_replicas (app, client, 0);
    tied_client_destroy (&client);
    return rc;
}

int app_stats (struct app *app)
{
    struct replica_stats *stats = replica_stats_new (app->replicas.count);
    int rc = TI_EXIT_OK;

    if (!stats)
        return app_fail ("out of memory");
    replica_stats_read (app, stats, NULL, app->timeout_ns, NULL, NULL);
    for (uint32_t i = 0; i < app->replicas.count; i++) {
        const struct ti_pair *pair = &app->replicas.items[i];

        if (!stats[i].is_known)
            rc = app_fail ("replica %s at %s cannot be reached", pair->id, pair->endpoint);
        for (uint32_t n = 0; n < stats[i].count; n++)
            printf ("%s %s %" PRIu64 "\n", pair->id, stats[i].items[n].name,
                    stats[i].items[n].value);
    }
    free (stats);
    return rc;
}
