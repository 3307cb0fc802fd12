/* SPDX-License-Identifier: MIT */
/* A server with a pool of threads and one peer. The README shows it; package.readme runs it. */
#include <stdio.h>

#include <tied/replica.h>

static void greet (tied_request_t *request, void *arg)
{
    char text[128];
    size_t size;
    const char *name = tied_request_body (request, &size);
    int length = snprintf (text, sizeof text, "hello %.*s from %s", (int)size, name, (char *)arg);
    int rc = length < (int)sizeof text ? tied_request_reply (request, text, (size_t)length)
                                       : tied_request_fail (request, 1, "name too long", 13);
    if (rc != 0)
        (void)fprintf (stderr, "Greet: %s\n", tied_error_text (rc));
}

int main (int argc, char **argv)
{
    struct tied_replica_options options;
    tied_replica_t *replica;
    int rc = TIED_ERR_INVAL;

    if (argc != 6) {
        (void)fprintf (stderr, "usage: server ID CLIENTS PEERS PEER_ID PEER_ENDPOINT\n");
        return 2;
    }
    tied_replica_options_init (&options);
    options.id = argv[1];
    options.core.workers = 2;
    replica = tied_replica_new (&options);
    if (replica && (rc = tied_replica_bind (replica, argv[2])) == 0 &&
        (rc = tied_replica_bind_peers (replica, argv[3])) == 0 &&
        (rc = tied_replica_add_peer (replica, argv[4], argv[5])) == 0 &&
        (rc = tied_replica_handle (replica, "Greet", greet, argv[1])) == 0 &&
        (rc = tied_replica_start (replica)) == 0) {
        (void)puts ("serving until end of input");
        while (getchar () != EOF)
            continue;
        rc = tied_replica_stop (replica, TIED_S (5)); /* refuses new calls, finishes the queue */
    }
    if (rc != 0)
        (void)fprintf (stderr, "server: %s\n", tied_error_text (rc));
    tied_replica_destroy (&replica);
    return rc != 0;
}
