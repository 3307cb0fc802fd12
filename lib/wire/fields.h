/* SPDX-License-Identifier: MIT */
/*
 * What encoder and decoder must agree on: element counts and what a name may be. Field order is
 * that of the structs in tied/wire.h and is written down once in each of encode.c and decode.c.
 */
#ifndef TI_WIRE_FIELDS_H
#define TI_WIRE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <tied/wire.h>

/* Elements of a message's array, version and type among them. */
enum {
    TI_WIRE_COUNT_HELLO = 6,
    TI_WIRE_COUNT_WELCOME = 13,
    TI_WIRE_COUNT_REQUEST = 16,
    TI_WIRE_COUNT_REPLY = 13,
    TI_WIRE_COUNT_REJECT = 9,
    TI_WIRE_COUNT_CANCEL = 5,
    TI_WIRE_COUNT_TIE = 5,
    TI_WIRE_COUNT_CLAIM = 7,
    TI_WIRE_COUNT_PING = 3,
    TI_WIRE_COUNT_PONG = 6
};

/* The revision before had no modes in WELCOME. */
enum {
    TI_WIRE_COUNT_WELCOME_OLD = 12
};

/* Levels of arrays and maps that an unknown element may have. */
#define TI_WIRE_DEPTH_MAX 4

/* A byte that a name may hold: no control byte, no space, no DEL. UTF-8 is not checked. */
static inline bool ti_wire_byte_is_visible (uint8_t byte)
{
    return byte > 0x20 && byte != 0x7f;
}

/* The same for eight bytes at once. The two tests are exact for "any byte": a borrow can only
   start at a byte that is itself a hit. */
static inline bool ti_wire_word_is_visible (uint64_t word)
{
    const uint64_t ones = UINT64_C (0x0101010101010101);
    const uint64_t tops = UINT64_C (0x8080808080808080);
    uint64_t low = (word - ones * 0x21) & ~word;
    uint64_t is_del = word ^ (ones * 0x7f);
    uint64_t del = (is_del - ones) & ~is_del;
    return ((low | del) & tops) == 0;
}

static inline bool ti_wire_is_visible (const uint8_t *bytes, size_t size)
{
    uint64_t word;
    if (size < sizeof word) {
        for (size_t i = 0; i < size; i++)
            if (!ti_wire_byte_is_visible (bytes[i]))
                return false;
        return true;
    }
    size_t at = 0;
    for (; at + sizeof word <= size; at += sizeof word) {
        memcpy (&word, bytes + at, sizeof word);
        if (!ti_wire_word_is_visible (word))
            return false;
    }
    /* The rest, together with bytes that were seen already. */
    memcpy (&word, bytes + size - sizeof word, sizeof word);
    return ti_wire_word_is_visible (word);
}

/* What may stand where the protocol has a name. */
static inline bool ti_wire_is_name (const void *data, size_t size)
{
    return data && size > 0 && size <= TIED_NAME_MAX && ti_wire_is_visible (data, size);
}

_Static_assert(TIED_WIRE_TRACEPARENT_MAX == TIED_NAME_MAX, "a traceparent is read as a name");

#endif
