/* SPDX-License-Identifier: MIT */
/* The part of the writer that is long and that every message needs several times. */
#include "wire/pack.h"

/* Written without a branch on its width: what comes after its last byte is written over by the next
 * element, or is nobody's. */
uint8_t *ti_pack_uint_wide (uint8_t *at, uint64_t value)
{
    const unsigned log =
        (unsigned)(value > UINT8_MAX) + (value > UINT16_MAX) + (value > UINT32_MAX);
    const size_t width = (size_t)1 << log;
    at[0] = (uint8_t)(0xcc | log);
    ti_store_be64 (at + 1, value << (64 - 8 * width));
    return at + 1 + width;
}
