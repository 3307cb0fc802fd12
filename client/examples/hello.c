/* SPDX-License-Identifier: MIT */
/* One tied call and its answer: hello ID=ENDPOINT METHOD TEXT, as in hello a=tcp://... echo hi */
#include <stdio.h>
#include <string.h>

#include <tied/client.h>

int main (int argc, char **argv)
{
    char *endpoint = argc == 4 ? strchr (argv[1], '=') : NULL;
    struct tied_client_options options;
    struct tied_call call;
    struct tied_reply reply;

    if (!endpoint)
        return 2;
    *endpoint++ = 0;
    tied_client_options_init (&options);
    tied_client_t *client = tied_client_new (&options);
    if (tied_client_add_replica (client, argv[1], endpoint) != 0 || tied_client_start (client) != 0)
        return 1;
    tied_call_init (&call, argv[2], argv[3], strlen (argv[3]));
    call.is_idempotent = true; /* it may run twice, so it may be tied */
    if (tied_client_call (client, &call, &reply) != 0)
        return 1;
    printf ("%s: %.*s\n", tied_outcome_name ((int)reply.details.outcome), (int)reply.body_size,
            reply.body_size > 0 ? (const char *)reply.body : "");
    tied_reply_release (&reply);
    tied_client_destroy (&client);
    return 0;
}
