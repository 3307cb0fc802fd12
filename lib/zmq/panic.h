/* SPDX-License-Identifier: MIT */
/* What a failed assertion prints when the host has not chosen a handler of its own. */
#ifndef TI_PANIC_H
#define TI_PANIC_H

/* Install a handler that prints to stderr, unless one is set. Thread: any. */
void ti_panic_install (void);

#endif
