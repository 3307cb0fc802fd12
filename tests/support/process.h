/* SPDX-License-Identifier: MIT */
/*
 * Programs that a test starts. Each dies with the test program (PR_SET_PDEATHSIG), is known by its
 * pid alone, and is reaped: by process_wait (), or by process_teardown () when a test has failed.
 * Every wait has a bound. Not thread-safe: one thread starts and ends all of them.
 */
#ifndef TIED_TEST_PROCESS_H
#define TIED_TEST_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Longer than any program of ours needs for anything, also with sanitizers on a crowded machine. */
#define PROCESS_BOUND_MS 60000

/* Sanitizers keep freed memory and shadow every byte: a resident set says nothing then. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PROCESS_MEMORY_IS_MEANINGFUL 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PROCESS_MEMORY_IS_MEANINGFUL 0
#endif
#endif
#ifndef PROCESS_MEMORY_IS_MEANINGFUL
#define PROCESS_MEMORY_IS_MEANINGFUL 1
#endif

struct process;

/* argv[0] is the path, the list ends with NULL. A program that cannot be started fails the test. */
struct process *process_start (const char *const argv[]);
pid_t process_pid (const struct process *self);
/* Next line of standard output, without its end; NULL when it ended. Valid until the next call. */
const char *process_line (struct process *self);
void process_signal (const struct process *self, int number);
/* SIGSTOP, and wait until it stands still. SIGCONT lets it go on. */
void process_stop (const struct process *self);
/* Wait for the end. @return exit code, or the negative number of the signal that ended it */
int process_wait (struct process *self);
bool process_is_alive (const struct process *self);
/* Resident set, bytes; 0 when the process has ended. */
size_t process_memory (pid_t pid);
/* All of standard error so far, and of standard output after process_wait (), as text. */
const char *process_errors (struct process *self);
const char *process_output (struct process *self);
/* Kill if need be, reap and free; a pointer to NULL is accepted. */
void process_free (struct process **self_p);

/* A teardown function of cmocka: ends and frees whatever a test has left. */
int process_teardown (void **state);

#endif
