/* SPDX-License-Identifier: MIT */
/*
 * Writer of the msgpack subset that headers use: unsigned integers in their shortest form, str,
 * bin heads, nil, array. It writes where there is room for the longest header, so no element needs
 * a look at the end, and the writer is two values that stay in registers. Not a msgpack library.
 */
#ifndef TI_WIRE_PACK_H
#define TI_WIRE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/util.h"

struct ti_pack {
    uint8_t *at;
    bool is_invalid; /* a field was out of range, and was not written */
};

TI_INLINE void ti_store_be16 (uint8_t *to, uint16_t value)
{
    to[0] = (uint8_t)(value >> 8);
    to[1] = (uint8_t)value;
}

TI_INLINE void ti_store_be32 (uint8_t *to, uint32_t value)
{
    ti_store_be16 (to, (uint16_t)(value >> 16));
    ti_store_be16 (to + 2, (uint16_t)value);
}

/* An object that is one byte. */
TI_INLINE void ti_pack_byte (struct ti_pack *self, uint8_t byte)
{
    *self->at++ = byte;
}

/* A number of several bytes; the place after it. */
TI_APART uint8_t *ti_pack_uint_wide (uint8_t *at, uint64_t value);

TI_INLINE void ti_pack_uint (struct ti_pack *self, uint64_t value)
{
    if (value < 0x80)
        ti_pack_byte (self, (uint8_t)value);
    else
        self->at = ti_pack_uint_wide (self->at, value);
}

TI_INLINE void ti_pack_nil (struct ti_pack *self)
{
    ti_pack_byte (self, 0xc0);
}

TI_INLINE void ti_pack_array (struct ti_pack *self, uint16_t count)
{
    if (count <= 15) {
        ti_pack_byte (self, (uint8_t)(0x90 | count));
        return;
    }
    ti_pack_byte (self, 0xdc);
    ti_store_be16 (self->at, count);
    self->at += 2;
}

TI_INLINE void ti_pack_bytes (struct ti_pack *self, const void *data, size_t size)
{
    ti_copy (self->at, data, size);
    self->at += size;
}

/* size is at most UINT8_MAX: the longest string of the protocol has 64 bytes. */
TI_INLINE void ti_pack_str (struct ti_pack *self, const void *data, uint8_t size)
{
    if (size <= 31) {
        ti_pack_byte (self, (uint8_t)(0xa0 | size));
    } else {
        ti_pack_byte (self, 0xd9);
        ti_pack_byte (self, size);
    }
    ti_pack_bytes (self, data, size);
}

/* What comes before the bytes of a bin. */
TI_INLINE void ti_pack_bin_head (struct ti_pack *self, uint32_t size)
{
    if (size <= UINT8_MAX) {
        ti_pack_byte (self, 0xc4);
        ti_pack_byte (self, (uint8_t)size);
    } else if (size <= UINT16_MAX) {
        ti_pack_byte (self, 0xc5);
        ti_store_be16 (self->at, (uint16_t)size);
        self->at += 2;
    } else {
        ti_pack_byte (self, 0xc6);
        ti_store_be32 (self->at, size);
        self->at += 4;
    }
}

#endif
