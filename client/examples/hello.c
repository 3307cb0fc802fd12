/* SPDX-License-Identifier: MIT */
/* One call, tied to two replicas, and its answer. The README shows it; package.readme runs it. */
#include <stdio.h>
#include <string.h>

#include <tied/client.h>

int main (int argc, char **argv)
{
    struct tied_client_options options;
    struct tied_call call;
    struct tied_reply reply;

    if (argc != 4 || !strchr (argv[1], '=') || !strchr (argv[2], '=')) {
        (void)fprintf (stderr, "usage: hello ID=ENDPOINT ID=ENDPOINT NAME\n");
        return 2;
    }
    tied_client_options_init (&options);
    tied_client_t *client = tied_client_new (&options);
    for (int i = 1; i < 3; i++) {
        char *endpoint = strchr (argv[i], '=');
        *endpoint++ = 0;
        int rc = tied_client_add_replica (client, argv[i], endpoint);
        if (rc != 0) {
            (void)fprintf (stderr, "hello: %s: %s\n", endpoint, tied_error_text (rc));
            return 2;
        }
    }
    if (tied_client_start (client) != 0)
        return 2;
    (void)!tied_client_wait_ready (client, 2, TIED_S (1)); /* a tie needs both */
    tied_call_init (&call, "Greet", argv[3], strlen (argv[3]));
    call.is_idempotent = true; /* it may run twice, so it may be tied */
    if (tied_client_call (client, &call, &reply) != 0)
        return 1;
    printf ("%s: %.*s (copies sent: %u)\n", tied_outcome_name ((int)reply.details.outcome),
            (int)reply.body_size, reply.body ? (const char *)reply.body : "",
            reply.details.copies_sent);
    tied_reply_release (&reply);
    tied_client_destroy (&client);
    return reply.details.outcome == TIED_OUTCOME_OK ? 0 : 1;
}
