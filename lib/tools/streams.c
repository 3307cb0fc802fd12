/* SPDX-License-Identifier: MIT */
#include "streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

void ti_streams_open (void)
{
    /* The lowest number that is free is the one wanted. */
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl (fd, F_GETFD) < 0 && errno == EBADF)
            (void)!open ("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int ti_streams_close (const char *program, int code)
{
    errno = 0;
    if (fflush (stdout) == 0 && !ferror (stdout))
        return code;
    if (code != TI_EXIT_OK)
        return code;
    /* An earlier write may have failed; why is not known any more. */
    fprintf (stderr, "%s: cannot write to standard output%s%s\n", program, errno ? ": " : "",
             errno ? strerror (errno) : "");
    return TI_EXIT_FAILED;
}
