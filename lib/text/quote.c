/* SPDX-License-Identifier: MIT */
#include "quote.h"

#include <stdio.h>
#include <string.h>

#include "utf8.h"

const char *ti_quote (const char *text, char buffer[TI_QUOTE_MAX])
{
    size_t at = 0;
    buffer[at++] = '"';
    for (; *text; text++) {
        /* Room for "\xNN", "..." and the end. */
        if (at + 4 + 3 + 2 > TI_QUOTE_MAX) {
            memcpy (buffer + at, "...", 3);
            at += 3;
            break;
        }
        unsigned char c = (unsigned char)*text;
        if (c < 0x20 || c >= 0x7f)
            at += (size_t)snprintf (buffer + at, 5, "\\x%02x", c);
        else
            buffer[at++] = *text;
    }
    buffer[at++] = '"';
    buffer[at] = '\0';
    return buffer;
}

char *ti_plain (char *text)
{
    for (unsigned char *at = (unsigned char *)text; *at;) {
        size_t length = ti_utf8_length (at);
        if (length == 0 || *at < 0x20 || *at == 0x7f || (at[0] == 0xc2 && at[1] < 0xa0)) {
            *at = '?';
            length = 1;
        }
        at += length;
    }
    return text;
}

#define NEAREST_LENGTH_MAX 40

static size_t smaller (size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Optimal string alignment: insert, delete, replace, swap neighbours, each counts one. */
static size_t edit_distance (const char *a, const char *b)
{
    size_t rows[3][NEAREST_LENGTH_MAX + 1];
    size_t a_length = strlen (a), b_length = strlen (b);
    if (a_length > NEAREST_LENGTH_MAX || b_length > NEAREST_LENGTH_MAX)
        return NEAREST_LENGTH_MAX;
    size_t *before = rows[0], *last = rows[1], *now = rows[2];
    for (size_t j = 0; j <= b_length; j++)
        last[j] = before[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        now[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t best = last[j - 1] + (a[i - 1] != b[j - 1]);
            best = smaller (best, last[j] + 1);
            best = smaller (best, now[j - 1] + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = smaller (best, before[j - 2] + 1);
            now[j] = best;
        }
        size_t *free_row = before;
        before = last;
        last = now;
        now = free_row;
    }
    return last[b_length];
}

const char *ti_nearest (const char *text, const char *const *names)
{
    const char *best = NULL;
    size_t length = strlen (text);
    size_t best_distance = length < 4 ? 2 : 3; /* accept less than this */
    for (; *names && length > 0 && length <= NEAREST_LENGTH_MAX; names++) {
        size_t distance = edit_distance (text, *names);
        /* The beginning of a name is as good as one slip. */
        if (length >= 2 && strncmp (text, *names, length) == 0)
            distance = 1;
        if (distance < best_distance && distance < length) {
            best = *names;
            best_distance = distance;
        }
    }
    return best;
}
