/* SPDX-License-Identifier: MIT */
/* A user of the installed library: touches the core, both runtimes and the codec. */
#include <stdio.h>

#include <tied/tied.h>

int main (void)
{
    struct tied_replica_options replica_options;
    struct tied_client_options client_options;
    tied_replica_options_init (&replica_options);
    tied_client_options_init (&client_options);
    replica_options.id = "a";

    tied_replica_t *replica = tied_replica_new (&replica_options);
    tied_client_t *client = tied_client_new (&client_options);
    int is_ok = replica && client && tied_replica_bind (replica, "tcp://127.0.0.1:*") == 0;
    is_ok = is_ok && tied_client_add_replica (client, "a", tied_replica_endpoint (replica)) == 0;
    printf ("%s %s\n", is_ok ? "ok" : "failed", tied_wire_type_name (1));
    tied_client_destroy (&client);
    tied_replica_destroy (&replica);
    return is_ok ? 0 : 1;
}
