/* SPDX-License-Identifier: MIT */
/*
 * Error codes of the functions of tied. Zero is success and every error is negative, so that a
 * count can share the return value. How a *call* ended is something else: enum tied_outcome.
 */
#ifndef TIED_ERROR_H
#define TIED_ERROR_H

#include <tied/export.h>

TIED_BEGIN_DECLS

/* X (name, value, retriable, text). Values are never reused. */
#define TIED_ERROR_MAP(X)                                                                          \
    X (INVAL, -1, 0, "invalid argument")                                                           \
    X (NOMEM, -2, 0, "out of memory")                                                              \
    X (FULL, -3, 1, "a configured limit was reached")                                              \
    X (STATE, -4, 0, "call not allowed in this state")                                             \
    X (TIMEOUT, -5, 1, "the wait ended before anything happened")                                  \
    X (EXISTS, -6, 0, "an entry with this name exists")                                            \
    X (ABSENT, -7, 0, "no such entry")                                                             \
    X (TOOBIG, -8, 0, "larger than the configured maximum")                                        \
    X (IN_USE, -9, 1, "the endpoint is in use")                                                    \
    X (ENDPOINT, -10, 0, "the endpoint is not valid or cannot be used here")                       \
    X (MALFORMED, -11, 0, "the bytes are not a valid message")                                     \
    X (VERSION, -12, 0, "the message is of another protocol version")                              \
    X (SYSTEM, -13, 1, "the operating system or libzmq refused a resource")                        \
    X (CANCELLED, -14, 0, "the request that this is done for was cancelled")

#define TIED_ERROR_ENUM_(name, value, retriable, text) TIED_ERR_##name = (value),
enum tied_error {
    TIED_OK = 0,
    TIED_ERROR_MAP (TIED_ERROR_ENUM_)
};
#undef TIED_ERROR_ENUM_

/**
 * Text of an error code, for a person.
 *
 * @param error  0 or any TIED_ERR_*; anything else gives "unknown error"
 * @return a static string, never NULL
 *
 * Ownership: none transferred.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: yes.
 * On error: cannot fail.
 */
TIED_EXPORT const char *tied_error_text (int error);

/**
 * Name of an error code as it is written in C, for logs: "TIED_ERR_FULL".
 *
 * @param error  0 or any TIED_ERR_*; anything else gives "TIED_ERR_?"
 * @return a static string, never NULL
 *
 * Ownership: none transferred.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: yes.
 * On error: cannot fail.
 */
TIED_EXPORT const char *tied_error_name (int error);

/**
 * Whether the same function may succeed later without a change by the caller.
 *
 * @param error  0 or any TIED_ERR_*
 * @return 1 if so, else 0
 *
 * Ownership: none transferred.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: yes.
 * On error: cannot fail.
 */
TIED_EXPORT int tied_error_is_retriable (int error);

TIED_END_DECLS

#endif
