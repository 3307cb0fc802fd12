/* SPDX-License-Identifier: MIT */
/* The parts of the reader that are long, or that every message needs several times. */
#include "wire/unpack.h"

int ti_unpack_first (int fault, int next)
{
    return fault != TIED_WIRE_FAULT_NONE ? fault : next;
}

/* Where the longest number would fit, one of any width is read without a branch on it: its bytes
 * are at the top of the eight that are read. */
struct ti_unpack_read ti_unpack_uint_wide (const uint8_t *at, const uint8_t *end)
{
    const size_t left = (size_t)(end - at);
    if (left == 0)
        return (struct ti_unpack_read){TIED_WIRE_FAULT_TRUNCATED, NULL};
    if (at[0] < 0x80)
        return (struct ti_unpack_read){at[0], at + 1};
    if ((at[0] & 0xfc) != 0xcc)
        return (struct ti_unpack_read){TIED_WIRE_FAULT_FIELD_TYPE, NULL};
    const size_t width = (size_t)1 << (at[0] & 3);
    if (left > 8)
        return (struct ti_unpack_read){ti_load_be64 (at + 1) >> (64 - 8 * width), at + 1 + width};
    if (left < 1 + width)
        return (struct ti_unpack_read){TIED_WIRE_FAULT_TRUNCATED, NULL};
    return (struct ti_unpack_read){ti_load_be (at + 1, width), at + 1 + width};
}
