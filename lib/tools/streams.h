/* SPDX-License-Identifier: MIT */
/*
 * The standard streams of a program: they may be closed when it starts, and what it writes to
 * standard output may not arrive.
 */
#ifndef TI_STREAMS_H
#define TI_STREAMS_H

/*
 * Before anything is opened: give 0, 1 and 2, where they are closed, descriptors that refuse every
 * read or write. Else the first file or socket would get the number, and take what is printed.
 */
void ti_streams_open (void);

/* At the end of a program that has printed results: what was written has arrived, or a line on
 * standard error says why not. @return code, or TI_EXIT_FAILED if that was TI_EXIT_OK */
int ti_streams_close (const char *program, int code);

#endif
