/* SPDX-License-Identifier: MIT */
/*
 * A server with a pool of threads: server ID CLIENTS PEERS [PEER_ID PEER_ENDPOINT].
 * Without arguments it starts on free ports, stops again and says so. Run by ctest.
 */
#include <stdio.h>

#include <tied/replica.h>

static void greet (tied_request_t *request, void *arg)
{
    size_t size;
    const void *name = tied_request_body (request, &size);
    char text[128];
    int length =
        snprintf (text, sizeof text, "%s %.*s", (const char *)arg, (int)size, (const char *)name);

    if (length >= (int)sizeof text)
        (void)!tied_request_fail (request, 1, "name too long", 13);
    else
        (void)!tied_request_reply (request, text, (size_t)length);
}

int main (int argc, char **argv)
{
    struct tied_replica_options options;
    tied_replica_t *replica;
    static char hello[] = "hello";
    int rc;

    tied_replica_options_init (&options);
    options.id = argc > 1 ? argv[1] : "a";
    options.core.workers = 4;
    replica = tied_replica_new (&options);
    if (!replica)
        return 1;
    rc = tied_replica_bind (replica, argc > 2 ? argv[2] : "tcp://127.0.0.1:*");
    if (rc == 0)
        rc = tied_replica_bind_peers (replica, argc > 3 ? argv[3] : "tcp://127.0.0.1:*");
    if (rc == 0 && argc > 5)
        rc = tied_replica_add_peer (replica, argv[4], argv[5]);
    if (rc == 0)
        rc = tied_replica_handle (replica, "Greet", greet, hello);
    if (rc == 0)
        rc = tied_replica_start (replica);
    if (rc == 0) {
        printf ("serving Greet at %s\n", tied_replica_endpoint (replica));
        if (argc > 1)
            (void)getchar (); /* until Enter or end of input */
        rc = tied_replica_stop (replica, TIED_S (5));
    }
    if (rc != 0)
        (void)fprintf (stderr, "server: %s\n", tied_error_text (rc));
    tied_replica_destroy (&replica);
    return rc != 0;
}
