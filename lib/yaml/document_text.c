/* SPDX-License-Identifier: MIT */
#include "document_text.h"

#include <string.h>

#include "text/utf8.h"

struct place {
    size_t offset;
    uint32_t line, column;
};

/* The text need not end with NUL. */
size_t ti_text_character (const char *text, size_t size, size_t offset)
{
    unsigned char bytes[5] = {0};
    size_t rest = size - offset;
    memcpy (bytes, text + offset, rest < 4 ? rest : 4);
    return ti_utf8_length (bytes);
}

static void advance (struct place *place, const char *text, size_t length)
{
    /* "\r\n" is one break: the second half is on no line of its own. */
    if (text[place->offset] == '\n') {
        place->line++;
        place->column = 1;
    } else {
        place->column++;
    }
    place->offset += length;
}

static const char *fault_of (const unsigned char *bytes, size_t length, size_t offset)
{
    if (length == 0)
        return "not UTF-8 here: save the file as UTF-8";
    if (bytes[0] == 0)
        return "a NUL byte: this is no text";
    if ((bytes[0] < 0x20 && bytes[0] != '\t' && bytes[0] != '\n' && bytes[0] != '\r') ||
        bytes[0] == 0x7f || (bytes[0] == 0xc2 && bytes[1] >= 0x80 && bytes[1] < 0xa0))
        return "a control character";
    if (length == 3 && memcmp (bytes, "\xef\xbb\xbf", 3) == 0 && offset > 0)
        return "a byte order mark in the middle of the text";
    return NULL;
}

const char *ti_text_fault (const char *text, size_t size, uint32_t *line, uint32_t *column)
{
    struct place place = {.offset = 0, .line = 1, .column = 1};
    while (place.offset < size) {
        size_t length = ti_text_character (text, size, place.offset);
        const char *fault =
            fault_of ((const unsigned char *)text + place.offset, length, place.offset);
        if (fault) {
            *line = place.line;
            *column = place.column;
            return fault;
        }
        advance (&place, text, length);
    }
    return NULL;
}

void ti_text_position (
    const char *text, size_t size, size_t offset, uint32_t *line, uint32_t *column)
{
    struct place place = {.offset = 0, .line = 1, .column = 1};
    while (place.offset < offset && place.offset < size) {
        size_t length = ti_text_character (text, size, place.offset);
        advance (&place, text, length ? length : 1);
    }
    *line = place.line;
    *column = place.column;
}

bool ti_text_is_tab (const char *text, size_t size, uint32_t line, uint32_t column)
{
    struct place place = {.offset = 0, .line = 1, .column = 1};
    while (place.offset < size && (place.line < line || place.column < column)) {
        size_t length = ti_text_character (text, size, place.offset);
        advance (&place, text, length ? length : 1);
        if (place.line > line)
            return false;
    }
    return place.offset < size && text[place.offset] == '\t';
}
