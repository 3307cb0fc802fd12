/* SPDX-License-Identifier: MIT */
/* What may be configured as the id of a replica or the name of a zone. On the wire a name may be
 * more: wire/fields.h. */
#ifndef TI_ID_H
#define TI_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <tied/types.h>

/* 1 to TIED_NAME_MAX of A-Z a-z 0-9 . _ -; NULL is none. */
static inline bool ti_is_id (const char *text)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    const size_t size = text ? strnlen (text, TIED_NAME_MAX + 1) : 0;
    return size >= 1 && size <= TIED_NAME_MAX && strspn (text, allowed) == size;
}

#endif
