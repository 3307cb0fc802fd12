/* SPDX-License-Identifier: MIT */
/* Lines and columns of a text, and what makes it no text at all. Columns count characters. */
#ifndef TI_DOCUMENT_TEXT_H
#define TI_DOCUMENT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* NULL if the bytes are UTF-8 without control characters, else what is wrong, and where. */
const char *ti_text_fault (const char *text, size_t size, uint32_t *line, uint32_t *column);
/* Length of the character at `offset`, 0: not UTF-8. */
size_t ti_text_character (const char *text, size_t size, size_t offset);
/* Of the byte at `offset`. */
void ti_text_position (
    const char *text, size_t size, size_t offset, uint32_t *line, uint32_t *column);
bool ti_text_is_tab (const char *text, size_t size, uint32_t line, uint32_t column);

#endif
