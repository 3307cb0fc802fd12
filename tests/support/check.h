/* SPDX-License-Identifier: MIT */
/*
 * Checks that print the expressions and both values, for use inside cmocka tests. cmocka itself has
 * no unsigned and no relational assertions.
 *
 *   CHECK_U64 (count, ==, 3);   CHECK_I64 (rc, <, 0);   CHECK_TRUE (is_empty);
 *   CHECK_STR (name, "a");      CHECK_MEM (got, want, size);   CHECK_DBL (p99, <, 0.2);
 *
 * Each argument is evaluated once. A failed check ends the test.
 */
#ifndef TIED_TEST_CHECK_H
#define TIED_TEST_CHECK_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Durations in nanoseconds. */
#define US(n) ((uint64_t)(n)*UINT64_C (1000))
#define MS(n) ((uint64_t)(n)*UINT64_C (1000000))
#define S(n)  ((uint64_t)(n)*UINT64_C (1000000000))

/* Real time in tests, on a machine that may be busy with much else. What must come is waited for
   with patience: only a hang takes longer. What must end without waiting for anybody ends soon: far
   from the time-outs and the patience that it must not wait for. */
#define CHECK_PATIENCE_MS 60000
#define CHECK_PATIENCE    MS (CHECK_PATIENCE_MS)
#define CHECK_SOON        S (20)

#define CHECK_RELATION_(type, cast, format, a, op, b)                                              \
    do {                                                                                           \
        type check_a_ = (cast)(a);                                                                 \
        type check_b_ = (cast)(b);                                                                 \
        if (!(check_a_ op check_b_)) {                                                             \
            print_error ("%s:%d: %s %s %s\n  left:  " format "\n  right: " format "\n", __FILE__,  \
                         __LINE__, #a, #op, #b, check_a_, check_b_);                               \
            _fail (__FILE__, __LINE__);                                                            \
        }                                                                                          \
    } while (0)

#define CHECK_U64(a, op, b) CHECK_RELATION_ (uint64_t, uint64_t, "%" PRIu64, a, op, b)
#define CHECK_I64(a, op, b) CHECK_RELATION_ (int64_t, int64_t, "%" PRId64, a, op, b)
#define CHECK_DBL(a, op, b) CHECK_RELATION_ (double, double, "%.17g", a, op, b)
#define CHECK_PTR(a, op, b) CHECK_RELATION_ (const void *, const void *, "%p", a, op, b)

#define CHECK_TRUE(expression)                                                                     \
    do {                                                                                           \
        if (!(expression)) {                                                                       \
            print_error ("%s:%d: not true: %s\n", __FILE__, __LINE__, #expression);                \
            _fail (__FILE__, __LINE__);                                                            \
        }                                                                                          \
    } while (0)

#define CHECK_FALSE(expression)                                                                    \
    do {                                                                                           \
        if (expression) {                                                                          \
            print_error ("%s:%d: not false: %s\n", __FILE__, __LINE__, #expression);               \
            _fail (__FILE__, __LINE__);                                                            \
        }                                                                                          \
    } while (0)

#define CHECK_STR(a, b) check_str_ (__FILE__, __LINE__, #a, #b, (a), (b))
#define CHECK_MEM(a, b, size)                                                                      \
    check_mem_ (__FILE__, __LINE__, #a, #b, (const void *)(a), (const void *)(b), (size))

static inline void check_str_ (const char *file,
                               int line,
                               const char *text_a,
                               const char *text_b,
                               const char *a,
                               const char *b)
{
    if (a == b || (a && b && strcmp (a, b) == 0))
        return;
    print_error ("%s:%d: %s equals %s\n  left:  \"%s\"\n  right: \"%s\"\n", file, line, text_a,
                 text_b, a ? a : "(null)", b ? b : "(null)");
    _fail (file, line);
}

static inline void check_mem_ (const char *file,
                               int line,
                               const char *text_a,
                               const char *text_b,
                               const void *a,
                               const void *b,
                               size_t size)
{
    const unsigned char *left = (const unsigned char *)a;
    const unsigned char *right = (const unsigned char *)b;
    size_t at = 0;
    while (at < size && left[at] == right[at])
        at++;
    if (at == size)
        return;
    print_error ("%s:%d: %s equals %s in %zu bytes: differ at byte %zu\n  left:  0x%02x\n"
                 "  right: 0x%02x\n",
                 file, line, text_a, text_b, size, at, (unsigned int)left[at],
                 (unsigned int)right[at]);
    _fail (file, line);
}

/*
 * How much of a repeated test to do, in percent, from the environment (TIED_TEST_SCALE, default
 * 100): the sanitizer runs ask for less. At least 1 repetition is left.
 */
static inline uint64_t check_scale (uint64_t repetitions)
{
    const char *text = getenv ("TIED_TEST_SCALE");
    uint64_t percent = text ? strtoull (text, NULL, 10) : 100;
    if (percent == 0 || percent > 100000)
        percent = 100;
    uint64_t scaled = repetitions / 100 * percent + repetitions % 100 * percent / 100;
    return scaled ? scaled : 1;
}

#endif
