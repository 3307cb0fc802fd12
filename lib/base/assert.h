/* SPDX-License-Identifier: MIT */
/*
 * Assertions about our own state, on in every build. Never on network input, memory or the system.
 * The handler is one replaceable pointer: tests expect failures through it, the runtimes install
 * one that prints. The default only aborts, so the core needs no stdio.
 */
#ifndef TI_ASSERT_H
#define TI_ASSERT_H

typedef void (ti_assert_fn) (const char *expression, const char *file, int line);

extern ti_assert_fn *ti_assert_handler;

/* Calls the handler and does not return, whatever the handler does. Cold: what leads there is laid
 * out away from the code that runs. */
#if defined __GNUC__
__attribute__ ((cold))
#endif
_Noreturn void
ti_assert_failed (const char *expression, const char *file, int line);

#define TI_ASSERT(expression)                                                                      \
    ((expression) ? (void)0 : ti_assert_failed (#expression, __FILE__, __LINE__))

#define TI_UNREACHABLE() ti_assert_failed ("unreachable", __FILE__, __LINE__)

#define TI_STATIC_ASSERT(expression, text) _Static_assert(expression, text)

#endif
