/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "app.h"
#include "tools/fail.h"
#include "tools/save.h"
#include "wire/fields.h"
#include "yaml/document.h"

int app_fail (const char *format, ...)
{
    va_list args;

    va_start (args, format);
    ti_fail_args (stderr, "tied-client", format, args);
    va_end (args);
    return TI_EXIT_FAILED;
}

int app_fail_write (const char *path)
{
    return ti_fail_write (stderr, "tied-client", path);
}

int app_check_method (const struct app *app, const char *where, const char *method)
{
    char quoted[TI_QUOTE_MAX];

    if (ti_wire_is_name (method, strlen (method)))
        return 0;
    return ti_cli_error (app->cli,
                         "%s %s: a method has 1 to %d bytes, no blank and no control "
                         "character",
                         where, ti_quote (method, quoted), TIED_NAME_MAX);
}

int app_check_output (const char *path)
{
    if (!path || ti_save_check (path) == 0)
        return 0;
    return app_fail_write (path);
}

void app_options (const struct app *app, struct tied_client_options *options)
{
    tied_client_options_init (options);
    options->name = "tied-client";
    options->drive = TIED_DRIVE_CALLER;
    options->timeout_ns = app->timeout_ns;
    options->core.replicas_max = APP_REPLICAS_MAX;
}

void app_options_for_file (struct tied_client_options *options)
{
    /* And "*", and the method that is called. */
    options->core.methods_max = TI_DOCUMENT_KEYS_MAX + 2;
}

tied_client_t *app_connect (const struct app *app,
                            const struct tied_client_options *options,
                            uint32_t first,
                            uint32_t count)
{
    tied_client_t *client = tied_client_new (options);

    if (!client) {
        app_fail ("cannot make a client: out of memory or descriptors (ulimit -n)");
        return NULL;
    }
    for (uint32_t i = first; i < first + count; i++) {
        const struct ti_pair *pair = &app->replicas.items[i];
        int rc = tied_client_add_replica (client, pair->id, pair->endpoint);

        if (rc == 0 && pair->zone[0])
            rc = tied_client_set_zone (client, pair->id, pair->zone);
        if (rc != 0) {
            app_fail ("replica %s at %s: %s", pair->id, pair->endpoint, ti_fail_reason (rc));
            tied_client_destroy (&client);
            return NULL;
        }
    }
    int started = tied_client_start (client);

    if (started != 0) {
        app_fail ("cannot start a client: %s", ti_fail_reason (started));
        tied_client_destroy (&client);
    }
    return client;
}

bool app_absent_replica (const struct app *app, tied_client_t *client, char *text, size_t size)
{
    for (uint32_t i = 0; i < app->replicas.count; i++) {
        const struct ti_pair *pair = &app->replicas.items[i];
        struct tied_client_replica replica;

        if (tied_client_replica (client, pair->id, &replica) != 0 ||
            replica.state == TIED_REPLICA_UP)
            continue;
        (void)snprintf (text, size, "replica %s at %s %s", pair->id, pair->endpoint,
                        replica.state == TIED_REPLICA_MISNAMED ? "calls itself by another id"
                                                               : "cannot be reached");
        return true;
    }
    return false;
}

int app_await_replicas (const struct app *app, tied_client_t *client, uint64_t timeout_ns)
{
    char text[APP_ABSENT_MAX];

    if (tied_client_wait_ready (client, app->replicas.count, timeout_ns) == 0 ||
        !app_absent_replica (app, client, text, sizeof text))
        return TI_EXIT_OK;
    return app_fail ("%s", text);
}
