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

struct ti_pack {
    uint8_t *at;
    uint8_t *end;
    int error; /* first failure, 0 if none */
};

static inline void ti_pack_fail (struct ti_pack *self, int error)
{
    if (self->error == 0)
        self->error = error;
    /* Nothing fits from here on, so nothing more is written. */
    self->end = self->at;
}

/* Room for that many bytes, or failure. */
static inline bool ti_pack_room (struct ti_pack *self, size_t size)
{
    if ((size_t)(self->end - self->at) >= size)
        return true;
    ti_pack_fail (self, TIED_ERR_TOOBIG);
    return false;
}

static inline void ti_store_be16 (uint8_t *to, uint16_t value)
{
    to[0] = (uint8_t)(value >> 8);
    to[1] = (uint8_t)value;
}

static inline void ti_store_be32 (uint8_t *to, uint32_t value)
{
    ti_store_be16 (to, (uint16_t)(value >> 16));
    ti_store_be16 (to + 2, (uint16_t)value);
}

static inline void ti_store_be64 (uint8_t *to, uint64_t value)
{
    ti_store_be32 (to, (uint32_t)(value >> 32));
    ti_store_be32 (to + 4, (uint32_t)value);
}

static inline void ti_pack_uint (struct ti_pack *self, uint64_t value)
{
    if (value < 0x80) {
        if (!ti_pack_room (self, 1))
            return;
        self->at[0] = (uint8_t)value;
        self->at += 1;
    } else if (value <= UINT8_MAX) {
        if (!ti_pack_room (self, 2))
            return;
        self->at[0] = 0xcc;
        self->at[1] = (uint8_t)value;
        self->at += 2;
    } else if (value <= UINT16_MAX) {
        if (!ti_pack_room (self, 3))
            return;
        self->at[0] = 0xcd;
        ti_store_be16 (self->at + 1, (uint16_t)value);
        self->at += 3;
    } else if (value <= UINT32_MAX) {
        if (!ti_pack_room (self, 5))
            return;
        self->at[0] = 0xce;
        ti_store_be32 (self->at + 1, (uint32_t)value);
        self->at += 5;
    } else {
        if (!ti_pack_room (self, 9))
            return;
        self->at[0] = 0xcf;
        ti_store_be64 (self->at + 1, value);
        self->at += 9;
    }
}

static inline void ti_pack_nil (struct ti_pack *self)
{
    if (!ti_pack_room (self, 1))
        return;
    self->at[0] = 0xc0;
    self->at += 1;
}

static inline void ti_pack_array (struct ti_pack *self, uint16_t count)
{
    if (count <= 15) {
        if (!ti_pack_room (self, 1))
            return;
        self->at[0] = (uint8_t)(0x90 | count);
        self->at += 1;
    } else {
        if (!ti_pack_room (self, 3))
            return;
        self->at[0] = 0xdc;
        ti_store_be16 (self->at + 1, count);
        self->at += 3;
    }
}

/* Bytes of a str or bin; data may be NULL when size is 0. */
static inline void ti_pack_bytes (struct ti_pack *self, const void *data, size_t size)
{
    if (size == 0 || !ti_pack_room (self, size))
        return;
    memcpy (self->at, data, size);
    self->at += size;
}

/* size is at most UINT8_MAX: the longest string of the protocol has 64 bytes. */
static inline void ti_pack_str (struct ti_pack *self, const void *data, uint8_t size)
{
    if (size <= 31) {
        if (!ti_pack_room (self, 1))
            return;
        self->at[0] = (uint8_t)(0xa0 | size);
        self->at += 1;
    } else {
        if (!ti_pack_room (self, 2))
            return;
        self->at[0] = 0xd9;
        self->at[1] = size;
        self->at += 2;
    }
    ti_pack_bytes (self, data, size);
}

static inline void ti_pack_bin (struct ti_pack *self, const void *data, uint32_t size)
{
    if (size <= UINT8_MAX) {
        if (!ti_pack_room (self, 2))
            return;
        self->at[0] = 0xc4;
        self->at[1] = (uint8_t)size;
        self->at += 2;
    } else if (size <= UINT16_MAX) {
        if (!ti_pack_room (self, 3))
            return;
        self->at[0] = 0xc5;
        ti_store_be16 (self->at + 1, (uint16_t)size);
        self->at += 3;
    } else {
        if (!ti_pack_room (self, 5))
            return;
        self->at[0] = 0xc6;
        ti_store_be32 (self->at + 1, size);
        self->at += 5;
    }
    ti_pack_bytes (self, data, size);
}

#endif
