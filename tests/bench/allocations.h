/* SPDX-License-Identifier: MIT */
/* Counts every allocation of the process by standing in for malloc. */
#ifndef BENCH_ALLOCATIONS_H
#define BENCH_ALLOCATIONS_H

#include <stdint.h>

uint64_t bench_allocations (void);

#endif
