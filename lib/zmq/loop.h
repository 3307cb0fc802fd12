/* SPDX-License-Identifier: MIT */
/*
 * One epoll set with nanosecond waits: the sockets' ZMQ_FDs and a wake-up fd.
 *
 * A ZMQ_FD is edge-like: it becomes readable when the socket has commands to process, and *any* use
 * of the socket (also a send) may consume that. The rule of both runtimes is therefore: whoever has
 * used a socket under the engine's lock drains its input before unlocking, or calls ti_loop_kick
 * ().
 */
#ifndef TI_LOOP_H
#define TI_LOOP_H

#include <tied/error.h>
#include <tied/types.h>

typedef struct ti_loop ti_loop_t;

/* NULL when the system gives no descriptors or memory. */
ti_loop_t *ti_loop_new (void);
void ti_loop_destroy (ti_loop_t **self_p);

/* Watch fd for reading; tag comes back from ti_loop_wait (). 0 or TIED_ERR_SYSTEM. Thread: under
 * the engine's lock. */
TIED_NODISCARD int ti_loop_add (ti_loop_t *self, int fd, uint32_t tag);
void ti_loop_remove (ti_loop_t *self, int fd);

/*
 * As ti_loop_add (), edge-triggered: each time the fd becomes readable *one* waiter is told, once.
 * For a loop that several threads wait on; whoever is told must empty the fd's source.
 */
TIED_NODISCARD int ti_loop_add_edge (ti_loop_t *self, int fd, uint32_t tag);

/*
 * Wait until a watched fd is readable, ti_loop_kick () was called, or `until` (absolute, monotonic)
 * has come. EINTR is retried with the rest of the time. Returns the number of tags written (>= 0; a
 * kick writes none). A kick ends one wait, and so does the time of ti_loop_arm (). Thread: any
 * number of waiters if all fds were added edge-triggered, else one; must not hold the engine's
 * lock.
 */
int ti_loop_wait (ti_loop_t *self, tied_time_t until, uint32_t *out_tags, int capacity);

/* End the current or the next wait at once. Thread: any, async-signal-safe. */
void ti_loop_kick (ti_loop_t *self);

/*
 * A descriptor for the host's own poll: readable (level-triggered) while ti_loop_wait () would
 * return at once, and from `until` of the last ti_loop_arm () on. Owned by the loop.
 */
int ti_loop_fd (const ti_loop_t *self);

/* Make the fd readable at this time (TIED_NEVER: not by time). */
void ti_loop_arm (ti_loop_t *self, tied_time_t until);

#endif
