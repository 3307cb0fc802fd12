/* SPDX-License-Identifier: MIT */
/*
 * Many calls from a program that has its own poll loop: completions come through a queue whose
 * descriptor the loop watches beside its others. Here the other descriptor is standard input: each
 * line becomes a call.
 *
 *   async ID=ENDPOINT... < lines
 */
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <tied/client.h>

/* Take all completions that are there. @return how many */
static unsigned collect (tied_client_t *client)
{
    struct tied_reply reply;
    unsigned count = 0;

    for (; tied_client_next (client, 0, &reply) == 0; count++) {
        printf ("%s %.*s\n", tied_outcome_name ((int)reply.details.outcome), (int)reply.body_size,
                reply.body_size > 0 ? (const char *)reply.body : "");
        tied_reply_release (&reply);
    }
    return count;
}

/* One call for each line of what was read. @return how many */
static unsigned submit_lines (tied_client_t *client, const char *text, size_t size)
{
    unsigned count = 0;

    while (size > 0) {
        const char *end = memchr (text, '\n', size);
        size_t length = end ? (size_t)(end - text) : size;
        struct tied_call call;

        tied_call_init (&call, "echo", text, length);
        call.is_idempotent = true;
        call.to_queue = true;
        count += tied_client_submit (client, &call, NULL) == 0;
        text += end ? length + 1 : length;
        size -= end ? length + 1 : length;
    }
    return count;
}

int main (int argc, char **argv)
{
    struct tied_client_options options;
    struct pollfd fds[2];
    unsigned pending = 0;
    bool is_open = true;

    tied_client_options_init (&options);
    options.drive = TIED_DRIVE_CALLER; /* no thread: this loop drives the client */
    tied_client_t *client = tied_client_new (&options);
    for (int i = 1; i < argc; i++) {
        char *endpoint = strchr (argv[i], '=');

        if (!endpoint)
            return 2;
        *endpoint++ = 0;
        if (tied_client_add_replica (client, argv[i], endpoint) != 0)
            return 1;
    }
    if (tied_client_start (client) != 0)
        return 1;
    fds[0] = (struct pollfd){.fd = tied_client_fd (client), .events = POLLIN};
    fds[1] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
    while (is_open || pending > 0) {
        if (poll (fds, is_open ? 2 : 1, -1) < 0)
            return 1;
        pending -= collect (client);
        if (is_open && fds[1].revents) {
            char text[4096];
            ssize_t size = read (STDIN_FILENO, text, sizeof text);

            is_open = size > 0;
            pending += submit_lines (client, text, is_open ? (size_t)size : 0);
        }
    }
    tied_client_destroy (&client);
    return 0;
}
