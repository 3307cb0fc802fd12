/* SPDX-License-Identifier: MIT */
/* Validation of UTF-8, one sequence at a time. */
#include "utf8.h"

#include <stdint.h>

size_t ti_utf8_length (const unsigned char *s)
{
    size_t length;
    uint32_t code, least;
    if (s[0] < 0x80)
        return 1;
    if (s[0] >= 0xc2 && s[0] <= 0xdf) {
        length = 2;
        code = s[0] & 0x1fu;
        least = 0x80;
    } else if (s[0] >= 0xe0 && s[0] <= 0xef) {
        length = 3;
        code = s[0] & 0x0fu;
        least = 0x800;
    } else if (s[0] >= 0xf0 && s[0] <= 0xf4) {
        length = 4;
        code = s[0] & 0x07u;
        least = 0x10000;
    } else {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0u) != 0x80)
            return 0;
        code = code << 6 | (s[i] & 0x3fu);
    }
    if (code < least || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        return 0;
    return length;
}
