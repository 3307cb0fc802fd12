/* SPDX-License-Identifier: MIT */
/*
 * Writer of the msgpack subset that headers use: unsigned integers in their shortest form, str,
 * bin, nil, array. It writes into the caller's bytes and remembers the first failure, so a message
 * is written without a check per element. Not a msgpack library.
 */
#ifndef TI_WIRE_PACK_H
#define TI_WIRE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <tied/error.h>

#include "base/util.h"

struct ti_pack {
    uint8_t *at;
    uint8_t *end;
    int error; /* first failure, 0 if none */
};

/* The first of the failures. */
TI_COLD int ti_pack_first (int error, int next);

TI_INLINE void ti_pack_fail (struct ti_pack *self, int error)
{
    self->error = ti_pack_first (self->error, error);
    /* Nothing fits from here on, so nothing more is written. */
    self->end = self->at;
}

/* That many bytes to write, or NULL and failure. Writers hold the result in a variable of their
   own: a byte stored through self->at could, for all that the compiler knows, change self->at. */
TI_INLINE uint8_t *ti_pack_take (struct ti_pack *self, size_t size)
{
    uint8_t *at = self->at;
    if ((size_t)(self->end - at) < size) {
        ti_pack_fail (self, TIED_ERR_TOOBIG);
        return NULL;
    }
    self->at = at + size;
    return at;
}

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

/* A marker and a number of `width` bytes; the number fits. */
TI_INLINE void ti_pack_marked (struct ti_pack *self, uint8_t marker, uint64_t value, size_t width)
{
    uint8_t *to = ti_pack_take (self, 1 + width);
    if (!to)
        return;
    to[0] = marker;
    switch (width) {
    case 1:
        to[1] = (uint8_t)value;
        break;
    case 2:
        ti_store_be16 (to + 1, (uint16_t)value);
        break;
    case 4:
        ti_store_be32 (to + 1, (uint32_t)value);
        break;
    default:
        ti_store_be64 (to + 1, value);
        break;
    }
}

/* An object that is one byte. */
TI_INLINE void ti_pack_byte (struct ti_pack *self, uint8_t byte)
{
    uint8_t *to = ti_pack_take (self, 1);
    if (to)
        to[0] = byte;
}

/* A number of several bytes: the place after it, or NULL if it does not fit. By value, so that the
 * writer can be in registers. */
uint8_t *ti_pack_uint_wide (uint8_t *at, const uint8_t *end, uint64_t value);

TI_INLINE void ti_pack_uint (struct ti_pack *self, uint64_t value)
{
    if (value < 0x80) {
        ti_pack_byte (self, (uint8_t)value);
        return;
    }
    uint8_t *after = ti_pack_uint_wide (self->at, self->end, value);
    if (after)
        self->at = after;
    else
        ti_pack_fail (self, TIED_ERR_TOOBIG);
}

TI_INLINE void ti_pack_nil (struct ti_pack *self)
{
    ti_pack_byte (self, 0xc0);
}

TI_INLINE void ti_pack_array (struct ti_pack *self, uint16_t count)
{
    if (count <= 15)
        ti_pack_byte (self, (uint8_t)(0x90 | count));
    else
        ti_pack_marked (self, 0xdc, count, 2);
}

/* Bytes of a str or bin; data may be NULL when size is 0. */
TI_INLINE void ti_pack_bytes (struct ti_pack *self, const void *data, size_t size)
{
    uint8_t *to = ti_pack_take (self, size);
    if (to && size > 0)
        memcpy (to, data, size);
}

/* size is at most UINT8_MAX: the longest string of the protocol has 64 bytes. */
TI_INLINE void ti_pack_str (struct ti_pack *self, const void *data, uint8_t size)
{
    if (size <= 31)
        ti_pack_byte (self, (uint8_t)(0xa0 | size));
    else
        ti_pack_marked (self, 0xd9, size, 1);
    ti_pack_bytes (self, data, size);
}

TI_INLINE void ti_pack_bin (struct ti_pack *self, const void *data, uint32_t size)
{
    if (size <= UINT8_MAX)
        ti_pack_marked (self, 0xc4, size, 1);
    else if (size <= UINT16_MAX)
        ti_pack_marked (self, 0xc5, size, 2);
    else
        ti_pack_marked (self, 0xc6, size, 4);
    ti_pack_bytes (self, data, size);
}

#endif
