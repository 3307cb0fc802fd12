/* SPDX-License-Identifier: MIT */
/*
 * A fan-out: the same question to several shards, and an answer as soon as enough of them have
 * given theirs. One goes first, the canary: a question that crashes its server crashes one and not
 * all of them.
 *
 *   gather ID=ENDPOINT... -- SHARD...
 */
#include <stdio.h>
#include <string.h>

#include <tied/client.h>

#define SHARDS_MAX 64

/* Ask all shards; 100 ms, or until four in five have answered. @return 0: those have */
static int ask (tied_client_t *client, char **shards, unsigned count)
{
    struct tied_gather_options options;
    struct tied_call calls[SHARDS_MAX];
    struct tied_gathered parts[SHARDS_MAX];
    int good;

    for (unsigned i = 0; i < count; i++) {
        tied_call_init (&calls[i], "echo", shards[i], strlen (shards[i]));
        calls[i].is_idempotent = true;
    }
    tied_gather_options_init (&options);
    options.need = (count * 4 + 4) / 5;
    options.canary = 1;
    options.timeout_ns = TIED_MS (100);
    good = tied_client_gather (client, calls, count, &options, parts);
    for (unsigned i = 0; good >= 0 && i < count; i++) {
        const struct tied_reply *reply = &parts[i].reply;

        printf ("%s: %s, %s\n", shards[i], tied_gather_name ((int)parts[i].end),
                parts[i].is_sent ? tied_outcome_name ((int)reply->details.outcome) : "not sent");
        tied_reply_release (&parts[i].reply);
    }
    return good >= (int)options.need ? 0 : 1;
}

int main (int argc, char **argv)
{
    struct tied_client_options options;
    unsigned count = 0;
    int rc = 2;
    int i = 1;

    tied_client_options_init (&options);
    tied_client_t *client = tied_client_new (&options);
    for (; i < argc && strcmp (argv[i], "--") != 0; i++) {
        char *endpoint = strchr (argv[i], '=');

        if (!endpoint)
            return 2;
        *endpoint++ = 0;
        if (tied_client_add_replica (client, argv[i], endpoint) != 0)
            return 2;
    }
    count = i + 1 < argc ? (unsigned)(argc - i - 1) : 0;
    if (count >= 1 && count <= SHARDS_MAX && tied_client_start (client) == 0)
        rc = ask (client, argv + i + 1, count);
    tied_client_destroy (&client);
    return rc;
}
