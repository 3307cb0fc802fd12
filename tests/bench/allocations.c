/* SPDX-License-Identifier: MIT */
/* glibc documents that a program may define these functions itself; its own stay reachable. */
#include "allocations.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

extern void *__libc_malloc (size_t size);
extern void *__libc_calloc (size_t count, size_t size);
extern void *__libc_realloc (void *pointer, size_t size);

static atomic_uint_fast64_t allocations;

uint64_t bench_allocations (void)
{
    return atomic_load (&allocations);
}

static void count (void)
{
    atomic_fetch_add_explicit (&allocations, 1, memory_order_relaxed);
}

void *malloc (size_t size)
{
    count ();
    return __libc_malloc (size);
}

void *calloc (size_t number, size_t size)
{
    count ();
    return __libc_calloc (number, size);
}

void *realloc (void *pointer, size_t size)
{
    count ();
    return __libc_realloc (pointer, size);
}
