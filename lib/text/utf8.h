/* SPDX-License-Identifier: MIT */
/* Which bytes are UTF-8, so that what we write is text whatever we were given. */
#ifndef TI_UTF8_H
#define TI_UTF8_H

#include <stddef.h>

/*
 * Bytes of the sequence at s, which ends with NUL; 0 if it is not valid (RFC 3629: shortest form,
 * no surrogates). NUL itself counts as a sequence of 1.
 */
size_t ti_utf8_length (const unsigned char *s);

#endif
