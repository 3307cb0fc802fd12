/* SPDX-License-Identifier: MIT */
#include "document_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <tied/error.h>

static int refuse (const char *path, const char *what, char why[TI_DOCUMENT_WHY_MAX])
{
    snprintf (why, TI_DOCUMENT_WHY_MAX, "%.160s: %s", path, what);
    return TIED_ERR_INVAL;
}

static int64_t now_ms (void)
{
    struct timespec now;
    clock_gettime (CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/*
 * Nobody may have a pipe open for writing, or somebody who writes nothing: opened or read as usual,
 * it would hold the caller for ever. A file is always ready.
 * @return 1: a read returns at once; 0: nothing came until then; -1: see errno
 */
static int await_bytes (int fd, int64_t until_ms)
{
    struct pollfd item = {.fd = fd, .events = POLLIN};
    int rc;
    do {
        int64_t left = until_ms - now_ms ();
        rc = poll (&item, 1, left > 0 ? (int)left : 0);
    } while (rc < 0 && errno == EINTR);
    return rc;
}

/* @return bytes, up to size; -1: see errno, which is ETIMEDOUT when they did not come in time */
static ssize_t read_all (int fd, char *text, size_t size)
{
    int64_t until_ms = now_ms () + TI_DOCUMENT_PATIENCE_MS;
    size_t used = 0;
    while (used < size) {
        int ready = await_bytes (fd, until_ms);
        if (ready == 0)
            errno = ETIMEDOUT;
        if (ready <= 0)
            return -1;
        ssize_t got = read (fd, text + used, size - used);
        if (got == 0)
            break;
        if (got > 0)
            used += (size_t)got;
        else if (errno != EINTR && errno != EAGAIN)
            return -1;
    }
    return (ssize_t)used;
}

int ti_document_read_file (const char *path,
                           char **out_text,
                           size_t *out_size,
                           char why[TI_DOCUMENT_WHY_MAX])
{
    int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return refuse (path, strerror (errno), why);
    char *text = malloc (TI_DOCUMENT_BYTES_MAX + 1);
    ssize_t size = text ? read_all (fd, text, TI_DOCUMENT_BYTES_MAX + 1) : -1;
    int rc = 0;
    if (!text) {
        (void)refuse (path, strerror (ENOMEM), why);
        rc = TIED_ERR_NOMEM;
    } else if (size < 0) {
        rc = refuse (path, errno == ETIMEDOUT ? "its end did not come in 3 s" : strerror (errno),
                     why);
    } else if ((size_t)size > TI_DOCUMENT_BYTES_MAX) {
        rc = refuse (path, "is larger than 1 MiB", why);
    }
    close (fd);
    if (rc) {
        free (text);
        return rc;
    }
    *out_text = text;
    *out_size = (size_t)size;
    return 0;
}
