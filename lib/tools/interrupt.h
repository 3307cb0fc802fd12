/* SPDX-License-Identifier: MIT */
/*
 * Long work that is interrupted says what it has found, and then ends by the signal, so that a
 * shell that runs it in a loop ends as well. A second signal ends it at once.
 */
#ifndef TI_INTERRUPT_H
#define TI_INTERRUPT_H

#include <stdbool.h>

/* From now on SIGINT and SIGTERM are asked about, and SIGHUP unless it has another meaning. */
void ti_interrupt_catch (bool with_hangup);
/* One has come: come to an end. On any thread. */
bool ti_interrupted (void);
/* At the end of main (): by the signal, if one has come. @return code, or no return */
int ti_interrupt_end (int code);

#endif
