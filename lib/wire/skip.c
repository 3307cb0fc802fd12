/* SPDX-License-Identifier: MIT */
/*
 * Passes over elements that a later revision of the protocol may have added. Their values mean
 * nothing to us, but they must be whole msgpack, and they may not cost more than their bytes.
 */
#include "wire/fields.h"
#include "wire/unpack.h"

/* What follows a marker: some bytes, and for arrays and maps some elements. */
struct extent {
    uint64_t bytes;
    uint64_t elements;
    bool is_nested;
};

/* What follows the markers 0xc0..0xdf, as the msgpack specification lists them. */
enum kind {
    KIND_FIXED,   /* `bytes` bytes */
    KIND_COUNTED, /* a count of `bytes` bytes, then that many bytes and `extra` more */
    KIND_ARRAY,   /* a count of `bytes` bytes, then that many elements */
    KIND_MAP,     /* a count of `bytes` bytes, then twice as many elements */
    KIND_INVALID
};
struct form {
    uint8_t kind;
    uint8_t bytes;
    uint8_t extra;
};
static const struct form forms[32] = {
    {KIND_FIXED, 0, 0},   /* c0 nil */
    {KIND_INVALID, 0, 0}, /* c1 never used */
    {KIND_FIXED, 0, 0},   /* c2 false */
    {KIND_FIXED, 0, 0},   /* c3 true */
    {KIND_COUNTED, 1, 0}, /* c4 bin 8 */
    {KIND_COUNTED, 2, 0}, /* c5 bin 16 */
    {KIND_COUNTED, 4, 0}, /* c6 bin 32 */
    {KIND_COUNTED, 1, 1}, /* c7 ext 8 */
    {KIND_COUNTED, 2, 1}, /* c8 ext 16 */
    {KIND_COUNTED, 4, 1}, /* c9 ext 32 */
    {KIND_FIXED, 4, 0},   /* ca float 32 */
    {KIND_FIXED, 8, 0},   /* cb float 64 */
    {KIND_FIXED, 1, 0},   /* cc uint 8 */
    {KIND_FIXED, 2, 0},   /* cd uint 16 */
    {KIND_FIXED, 4, 0},   /* ce uint 32 */
    {KIND_FIXED, 8, 0},   /* cf uint 64 */
    {KIND_FIXED, 1, 0},   /* d0 int 8 */
    {KIND_FIXED, 2, 0},   /* d1 int 16 */
    {KIND_FIXED, 4, 0},   /* d2 int 32 */
    {KIND_FIXED, 8, 0},   /* d3 int 64 */
    {KIND_FIXED, 2, 0},   /* d4 fixext 1 */
    {KIND_FIXED, 3, 0},   /* d5 fixext 2 */
    {KIND_FIXED, 5, 0},   /* d6 fixext 4 */
    {KIND_FIXED, 9, 0},   /* d7 fixext 8 */
    {KIND_FIXED, 17, 0},  /* d8 fixext 16 */
    {KIND_COUNTED, 1, 0}, /* d9 str 8 */
    {KIND_COUNTED, 2, 0}, /* da str 16 */
    {KIND_COUNTED, 4, 0}, /* db str 32 */
    {KIND_ARRAY, 2, 0},   /* dc array 16 */
    {KIND_ARRAY, 4, 0},   /* dd array 32 */
    {KIND_MAP, 2, 0},     /* de map 16 */
    {KIND_MAP, 4, 0},     /* df map 32 */
};

static struct extent read_marked (struct ti_unpack *self, struct form form)
{
    struct extent extent = {0, 0, false};
    if (form.kind == KIND_INVALID) {
        ti_unpack_fail (self, TIED_WIRE_FAULT_FIELD_TYPE);
        return extent;
    }
    if (form.kind == KIND_FIXED) {
        self->at++;
        extent.bytes = form.bytes;
        return extent;
    }
    uint64_t count = ti_unpack_number (self, form.bytes);
    if (form.kind == KIND_COUNTED)
        extent.bytes = count + form.extra;
    else {
        extent.elements = form.kind == KIND_MAP ? 2 * count : count;
        extent.is_nested = true;
    }
    return extent;
}

/* Read the head of one element; a byte at least is there. */
static struct extent read_head (struct ti_unpack *self)
{
    uint8_t marker = *self->at;
    struct extent extent = {0, 0, false};
    if (marker >= 0xc0 && marker <= 0xdf)
        return read_marked (self, forms[marker - 0xc0]);
    self->at++;
    if (marker >= 0x80 && marker <= 0x8f) {
        extent.elements = 2 * (uint64_t)(marker & 0x0f);
        extent.is_nested = true;
    } else if (marker >= 0x90 && marker <= 0x9f) {
        extent.elements = marker & 0x0f;
        extent.is_nested = true;
    } else if (marker >= 0xa0 && marker <= 0xbf)
        extent.bytes = marker & 0x1f;
    return extent; /* the rest are small integers: the marker is all */
}

void ti_unpack_skip (struct ti_unpack *self, uint32_t count)
{
    uint64_t left[TI_WIRE_DEPTH_MAX + 1]; /* elements to come at each level */
    unsigned depth = 0;
    left[0] = count;
    for (;;) {
        while (left[depth] == 0) {
            if (depth == 0)
                return;
            depth--;
        }
        if (!ti_unpack_has (self, 1))
            return;
        left[depth]--;
        struct extent extent = read_head (self);
        /* Bytes or elements: an element is a byte at least. One of the two is 0. */
        if (!ti_unpack_has (self, extent.bytes + extent.elements))
            return;
        self->at += extent.bytes;
        if (!extent.is_nested)
            continue;
        if (depth == TI_WIRE_DEPTH_MAX) {
            ti_unpack_fail (self, TIED_WIRE_FAULT_TOO_DEEP);
            return;
        }
        left[++depth] = extent.elements;
    }
}
