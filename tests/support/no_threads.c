/* SPDX-License-Identifier: MIT */
/*
 * Linked into tests that are taken for single-threaded, which the thread sanitizer's build leaves
 * out (tests/CMakeLists.txt). Whoever starts a thread in one of them gets here by way of the
 * linker. No part of the support library: the other tests start as many threads as they like.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

int __wrap_pthread_create (pthread_t *thread,
                           const pthread_attr_t *attributes,
                           void *(*body) (void *),
                           void *arg);

int __wrap_pthread_create (pthread_t *thread,
                           const pthread_attr_t *attributes,
                           void *(*body) (void *),
                           void *arg)
{
    (void)thread;
    (void)attributes;
    (void)body;
    (void)arg;
    (void)fprintf (stderr,
                   "This test starts a thread, but tests/CMakeLists.txt takes it for one that "
                   "does not: take the header that brings it out of "
                   "single_threaded_headers.\n");
    abort ();
}
