/* SPDX-License-Identifier: MIT */
#include "base/hash.h"

#include <string.h>

uint64_t ti_hash_bytes (const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint64_t hash = UINT64_C (0xcbf29ce484222325);

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * UINT64_C (0x100000001b3);
    return hash;
}

uint64_t ti_hash_text (const char *text)
{
    return ti_hash_bytes (text, strlen (text));
}
