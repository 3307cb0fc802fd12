/* SPDX-License-Identifier: MIT */
/*
 * Bounded reader of the msgpack that headers use. It never looks past the end, never trusts a
 * declared count, allocates nothing, recurses nowhere, and remembers the first fault, so a message
 * is read without a check per element. Not a msgpack library.
 */
#ifndef TI_WIRE_UNPACK_H
#define TI_WIRE_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tied/wire.h>

#include "base/util.h"

struct ti_unpack {
    const uint8_t *at;
    const uint8_t *end;
    int fault; /* first enum tied_wire_fault; after it every read gives 0 */
};

/* The first of the faults. */
TI_COLD int ti_unpack_first (int fault, int next);

TI_INLINE void ti_unpack_fail (struct ti_unpack *self, int fault)
{
    self->fault = ti_unpack_first (self->fault, fault);
    self->at = self->end;
}

TI_INLINE size_t ti_unpack_left (const struct ti_unpack *self)
{
    return (size_t)(self->end - self->at);
}

/* That many bytes are there, or a fault. */
TI_INLINE bool ti_unpack_has (struct ti_unpack *self, uint64_t size)
{
    if (ti_unpack_left (self) >= size)
        return true;
    ti_unpack_fail (self, TIED_WIRE_FAULT_TRUNCATED);
    return false;
}

/* Big-endian number of 1, 2, 4 or 8 bytes; they are there. */
TI_INLINE uint64_t ti_load_be (const uint8_t *from, size_t width)
{
    switch (width) {
    case 1:
        return from[0];
    case 2:
        return (uint64_t)from[0] << 8 | from[1];
    case 4:
        return (uint64_t)from[0] << 24 | (uint64_t)from[1] << 16 | (uint64_t)from[2] << 8 | from[3];
    default:
        return ti_load_be64 (from);
    }
}

/* A marker byte and the number of `width` bytes after it. */
TI_INLINE uint64_t ti_unpack_number (struct ti_unpack *self, size_t width)
{
    if (!ti_unpack_has (self, 1 + width))
        return 0;
    uint64_t value = ti_load_be (self->at + 1, width);
    self->at += 1 + width;
    return value;
}

/* A number, and the place after it; `at` is NULL and `value` a fault if there is none. */
struct ti_unpack_read {
    uint64_t value;
    const uint8_t *at;
};

/* One of several bytes, or none. By value, so that the reader can be in registers. */
TI_APART struct ti_unpack_read ti_unpack_uint_wide (const uint8_t *at, const uint8_t *end);

TI_INLINE uint64_t ti_unpack_uint (struct ti_unpack *self)
{
    const uint8_t *at = self->at;
    if (at != self->end && at[0] < 0x80) {
        self->at = at + 1;
        return at[0];
    }
    const struct ti_unpack_read read = ti_unpack_uint_wide (at, self->end);
    if (read.at == NULL) {
        ti_unpack_fail (self, (int)read.value);
        return 0;
    }
    self->at = read.at;
    return read.value;
}

TI_INLINE uint64_t ti_unpack_uint_max (struct ti_unpack *self, uint64_t max)
{
    uint64_t value = ti_unpack_uint (self);
    if (value <= max)
        return value;
    ti_unpack_fail (self, TIED_WIRE_FAULT_FIELD_RANGE);
    return 0;
}

TI_INLINE uint8_t ti_unpack_u8 (struct ti_unpack *self)
{
    return (uint8_t)ti_unpack_uint_max (self, UINT8_MAX);
}

TI_INLINE uint32_t ti_unpack_u32 (struct ti_unpack *self)
{
    return (uint32_t)ti_unpack_uint_max (self, UINT32_MAX);
}

/* The next element is nil, and was taken. */
TI_INLINE bool ti_unpack_is_nil (struct ti_unpack *self)
{
    if (ti_unpack_left (self) == 0 || *self->at != 0xc0)
        return false;
    self->at++;
    return true;
}

/* The bytes after a head that said how many there are. */
TI_INLINE struct tied_view ti_unpack_view (struct ti_unpack *self, uint64_t size)
{
    struct tied_view view = {NULL, 0};
    if (!ti_unpack_has (self, size))
        return view;
    view.data = self->at;
    view.size = (size_t)size;
    self->at += size;
    return view;
}

TI_INLINE struct tied_view ti_unpack_str (struct ti_unpack *self)
{
    struct tied_view none = {NULL, 0};
    if (!ti_unpack_has (self, 1))
        return none;
    uint8_t marker = *self->at;
    if ((marker & 0xe0) == 0xa0) {
        self->at++;
        return ti_unpack_view (self, marker & 0x1f);
    }
    switch (marker) {
    case 0xd9:
        return ti_unpack_view (self, ti_unpack_number (self, 1));
    case 0xda:
        return ti_unpack_view (self, ti_unpack_number (self, 2));
    case 0xdb:
        return ti_unpack_view (self, ti_unpack_number (self, 4));
    default:
        ti_unpack_fail (self, TIED_WIRE_FAULT_FIELD_TYPE);
        return none;
    }
}

TI_INLINE struct tied_view ti_unpack_bin (struct ti_unpack *self)
{
    struct tied_view none = {NULL, 0};
    if (!ti_unpack_has (self, 1))
        return none;
    switch (*self->at) {
    case 0xc4:
        return ti_unpack_view (self, ti_unpack_number (self, 1));
    case 0xc5:
        return ti_unpack_view (self, ti_unpack_number (self, 2));
    case 0xc6:
        return ti_unpack_view (self, ti_unpack_number (self, 4));
    default:
        ti_unpack_fail (self, TIED_WIRE_FAULT_FIELD_TYPE);
        return none;
    }
}

/* Elements of the array that starts here. Each takes a byte at least, so more than there are bytes
   left cannot be meant. */
TI_INLINE uint32_t ti_unpack_array (struct ti_unpack *self)
{
    if (!ti_unpack_has (self, 1))
        return 0;
    uint8_t marker = *self->at;
    uint64_t count;
    if ((marker & 0xf0) == 0x90) {
        self->at++;
        count = marker & 0x0f;
    } else if (marker == 0xdc)
        count = ti_unpack_number (self, 2);
    else if (marker == 0xdd)
        count = ti_unpack_number (self, 4);
    else {
        ti_unpack_fail (self, TIED_WIRE_FAULT_NOT_ARRAY);
        return 0;
    }
    if (!ti_unpack_has (self, count))
        return 0;
    return (uint32_t)count;
}

/* Pass over `count` elements of any kind. */
void ti_unpack_skip (struct ti_unpack *self, uint32_t count);

#endif
