/* SPDX-License-Identifier: MIT */
/*
 * A hash of bytes, FNV-1a of 64 bits: for names that are short and chosen by whoever configures
 * the program. Whoever can be sent names by others keeps their number bounded. Not for secrets.
 */
#ifndef TI_HASH_H
#define TI_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t ti_hash_bytes (const void *bytes, size_t size);
/* Of a text without its NUL. */
uint64_t ti_hash_text (const char *text);

#endif
