/* SPDX-License-Identifier: MIT */
/*
 * The file that a program records to, line by line, while it works: buffered, its first error kept
 * until the end, so that whoever records need not look. Lines of one thread at a time. What a line
 * says is the program's business; who reads them is sim/workload/recording.h.
 */
#ifndef TI_RECORDING_H
#define TI_RECORDING_H

#include <stdint.h>
#include <stdio.h>

#include <tied/types.h>

struct ti_recording {
    FILE *file; /* NULL: nothing is recorded */
    int error;  /* errno of the first failure, 0: none */
};

/* Makes the file with its heading. @return 0, TIED_ERR_SYSTEM (see errno) */
TIED_NODISCARD int
ti_recording_open (struct ti_recording *self, const char *path, const char *heading);
/* One line, with its end. Nothing is done if nothing is recorded, or after a failure. */
void ti_recording_put (struct ti_recording *self, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));
/* Writes what is left and closes. @return 0, TIED_ERR_SYSTEM (errno says what failed first) */
TIED_NODISCARD int ti_recording_close (struct ti_recording *self);

#define TI_RECORDING_US_MAX 32
/* "1234.567": microseconds with all their decimals. @return buffer */
const char *ti_recording_us (uint64_t ns, char buffer[TI_RECORDING_US_MAX]);
#define TI_RECORDING_CALL_MAX 40
/* "EPOCH-SEQUENCE", both in hexadecimal. @return buffer */
const char *ti_recording_call (struct tied_call_id call, char buffer[TI_RECORDING_CALL_MAX]);

#endif
