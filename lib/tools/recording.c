/* SPDX-License-Identifier: MIT */
#include "recording.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>

#include <tied/error.h>

/* A write of so much takes the kernel some ten microseconds. */
#define BUFFER_SIZE 65536

static void check (struct ti_recording *self, int result)
{
    if (result < 0 && self->error == 0)
        self->error = errno ? errno : EIO;
}

int ti_recording_open (struct ti_recording *self, const char *path, const char *heading)
{
    *self = (struct ti_recording){.file = fopen (path, "we")};
    if (!self->file)
        return TIED_ERR_SYSTEM;
    (void)setvbuf (self->file, NULL, _IOFBF, BUFFER_SIZE);
    ti_recording_put (self, "%s", heading);
    return 0;
}

void ti_recording_put (struct ti_recording *self, const char *format, ...)
{
    va_list args;

    if (!self->file || self->error)
        return;
    errno = 0;
    va_start (args, format);
    check (self, vfprintf (self->file, format, args));
    va_end (args);
    check (self, putc ('\n', self->file));
}

int ti_recording_close (struct ti_recording *self)
{
    if (!self->file)
        return 0;
    errno = 0;
    check (self, fclose (self->file));
    self->file = NULL;
    errno = self->error;
    return self->error ? TIED_ERR_SYSTEM : 0;
}

const char *ti_recording_us (uint64_t ns, char buffer[TI_RECORDING_US_MAX])
{
    (void)snprintf (buffer, TI_RECORDING_US_MAX, "%" PRIu64 ".%03u", ns / 1000,
                    (unsigned)(ns % 1000));
    return buffer;
}

const char *ti_recording_call (struct tied_call_id call, char buffer[TI_RECORDING_CALL_MAX])
{
    (void)snprintf (buffer, TI_RECORDING_CALL_MAX, "%" PRIx64 "-%" PRIx64, call.epoch,
                    call.sequence);
    return buffer;
}
