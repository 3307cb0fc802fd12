/* SPDX-License-Identifier: MIT */
/* A new file takes the place of the old one when it is complete; see save.h. */
#include "save.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tied/error.h>

/* A new file must not take the place of /dev/stdout. */
static bool is_special (const char *path)
{
    struct stat status;
    return stat (path, &status) == 0 && !S_ISREG (status.st_mode);
}

static int close_written (FILE *file, int rc)
{
    int saved = errno;
    if (fclose (file) != 0) {
        if (rc == TIED_OK)
            return TIED_ERR_SYSTEM;
    }
    if (rc)
        errno = saved;
    return rc;
}

int ti_save (const char *path, ti_writer *writer, const void *context)
{
    char temporary[4096];
    if (is_special (path)) {
        FILE *file = fopen (path, "we");
        return file ? close_written (file, writer (context, file)) : TIED_ERR_SYSTEM;
    }
    int length = snprintf (temporary, sizeof temporary, "%s.XXXXXX", path);
    if (length < 0 || (size_t)length >= sizeof temporary) {
        errno = ENAMETOOLONG;
        return TIED_ERR_SYSTEM;
    }
    int fd = mkstemp (temporary);
    if (fd < 0)
        return TIED_ERR_SYSTEM;
    /* mkstemp gives 0600; a report is an ordinary file. */
    mode_t mask = umask (0);
    umask (mask);
    FILE *file = fchmod (fd, 0666 & ~mask) == 0 ? fdopen (fd, "w") : NULL;
    int rc = TIED_ERR_SYSTEM;
    if (file)
        rc = close_written (file, writer (context, file));
    else
        close (fd);
    if (rc == TIED_OK && rename (temporary, path) != 0)
        rc = TIED_ERR_SYSTEM;
    if (rc) {
        int saved = errno;
        unlink (temporary);
        errno = saved;
    }
    return rc;
}

int ti_save_check (const char *path)
{
    char folder[4096];
    struct stat status;
    const char *slash = strrchr (path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    if (length >= sizeof folder) {
        errno = ENAMETOOLONG;
        return TIED_ERR_SYSTEM;
    }
    memcpy (folder, path, length);
    folder[length] = '\0';
    bool exists = stat (path, &status) == 0;
    if (exists && S_ISDIR (status.st_mode)) {
        errno = EISDIR;
        return TIED_ERR_SYSTEM;
    }
    /* A new file takes the place of a regular one, others are written in place. */
    if (exists && !S_ISREG (status.st_mode))
        return access (path, W_OK) == 0 ? TIED_OK : TIED_ERR_SYSTEM;
    return access (length ? folder : slash ? "/" : ".", W_OK) == 0 ? TIED_OK : TIED_ERR_SYSTEM;
}
