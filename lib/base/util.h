/* SPDX-License-Identifier: MIT */
/* Small arithmetic that must not wrap, and offsets inside one memory block. */
#ifndef TI_UTIL_H
#define TI_UTIL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <tied/types.h>

/* For what is so short that a call costs more than its work, and is on the path of every message:
 * the state that it is handed by pointer then stays in registers. */
#if defined __GNUC__
#define TI_INLINE static inline __attribute__ ((always_inline))
/* What refuses, and the way there, laid out away from the code that runs. */
#define TI_COLD __attribute__ ((cold, noinline))
/* What many places call: a copy in each of them would push other code out of the cache. */
#define TI_APART __attribute__ ((noinline))
#else
#define TI_INLINE static inline
#define TI_COLD
#define TI_APART
#endif

/* a + b, or TIED_NEVER when that is later than any time; NEVER + x is NEVER. */
static inline tied_time_t ti_time_add (tied_time_t a, tied_duration_t b)
{
    return a > TIED_NEVER - b ? TIED_NEVER : a + b;
}

/* a - b, or 0 when b is later; NEVER - x is NEVER. */
static inline tied_duration_t ti_time_sub (tied_time_t a, tied_time_t b)
{
    if (a == TIED_NEVER)
        return TIED_NEVER;
    return a > b ? a - b : 0;
}

static inline uint64_t ti_min (uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t ti_max (uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Nanoseconds from microseconds off the wire; UINT64_MAX (none given) and overflow become NEVER. */
static inline tied_duration_t ti_ns_from_us (uint64_t us)
{
    return us > (TIED_NEVER - 1) / 1000 ? TIED_NEVER : us * 1000;
}

/* Microseconds for the wire, rounded up so that a short rest never becomes nothing. */
static inline uint64_t ti_us_from_ns (tied_duration_t ns)
{
    return ns == TIED_NEVER ? UINT64_MAX : ns / 1000 + (ns % 1000 != 0);
}

/* Finaliser of splitmix64 (Steele, Lea, Flood 2014): every input bit reaches every output bit. */
static inline uint64_t ti_mix (uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C (0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C (0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Numbers in network order, at any address. Compilers that know the order of bytes do it in one
 * instruction. */
TI_INLINE void ti_store_be64 (uint8_t *to, uint64_t value)
{
#if defined __GNUC__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    value = __builtin_bswap64 (value);
    memcpy (to, &value, sizeof value);
#else
    for (int i = 0; i < 8; i++)
        to[i] = (uint8_t)(value >> (56 - 8 * i));
#endif
}

TI_INLINE uint64_t ti_load_be64 (const uint8_t *from)
{
    uint64_t value = 0;
#if defined __GNUC__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy (&value, from, sizeof value);
    return __builtin_bswap64 (value);
#else
    for (int i = 0; i < 8; i++)
        value = value << 8 | from[i];
    return value;
#endif
}

/* memcpy for what is mostly a few bytes, without a call for those. `from` may be NULL when size is
 * 0. */
TI_INLINE void ti_copy (uint8_t *to, const void *from, size_t size)
{
    const uint8_t *bytes = from;
    if (size > 16) {
        memcpy (to, bytes, size);
    } else if (size >= 8) { /* two halves that may overlap */
        memcpy (to, bytes, 8);
        memcpy (to + size - 8, bytes + size - 8, 8);
    } else {
        for (size_t i = 0; i < size; i++)
            to[i] = bytes[i];
    }
}

/* Begin to bring the cache line of this address near. Changes nothing but the time that the next
 * access takes; the address need not be one. */
static inline void ti_prefetch (const void *address)
{
    __builtin_prefetch (address, 1);
}

static inline bool ti_call_id_equal (struct tied_call_id a, struct tied_call_id b)
{
    return a.epoch == b.epoch && a.sequence == b.sequence;
}

/*
 * A core is one block that memcpy can copy, so its parts find their arrays by distance and not by
 * pointer. TI_AT gives the array of element type T that lies `offset` bytes after `self`.
 */
#define TI_AT(T, self, offset) ((T *)(void *)((unsigned char *)(void *)(self) + (offset)))
#define TI_AT_CONST(T, self, offset)                                                               \
    ((const T *)(const void *)((const unsigned char *)(const void *)(self) + (offset)))

/* Size rounded up so that the next array is aligned for any type. */
static inline size_t ti_align (size_t size)
{
    return (size + (_Alignof(max_align_t) - 1)) & ~(size_t)(_Alignof(max_align_t) - 1);
}

#endif
