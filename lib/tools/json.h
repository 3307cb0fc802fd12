/* SPDX-License-Identifier: MIT */
/*
 * Streaming JSON writer (RFC 8259) to a FILE. It puts commas, indents and escapes, and cannot write
 * anything that is not JSON: bytes that are not UTF-8 become U+FFFD, a number that is not finite
 * becomes null. '<', '>' and '&' are escaped, so that the text may stand inside an HTML script
 * element. It builds no tree and reads nothing.
 */
#ifndef TI_JSON_H
#define TI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <tied/export.h>

#define TI_JSON_DEPTH_MAX 32

struct ti_json {
    FILE *file;
    uint32_t depth;
    uint32_t indent;                   /* spaces a level; 0: all on one line */
    bool has_items[TI_JSON_DEPTH_MAX]; /* something was written at this level */
    bool is_array[TI_JSON_DEPTH_MAX];
    bool is_inline[TI_JSON_DEPTH_MAX]; /* this level and all below it on one line */
};

void ti_json_init (struct ti_json *self, FILE *file, uint32_t indent);

/*
 * key names the member inside an object and is NULL inside an array and at the top. Wrong nesting
 * is a mistake of the caller and asserted.
 */
void ti_json_object (struct ti_json *self, const char *key);
void ti_json_array (struct ti_json *self, const char *key);
/* An array that stays on one line whatever the indent: points, pairs. */
void ti_json_inline_array (struct ti_json *self, const char *key);
void ti_json_end (struct ti_json *self); /* of the innermost object or array */

void ti_json_string (struct ti_json *self, const char *key, const char *value); /* NULL: null */
void ti_json_u64 (struct ti_json *self, const char *key, uint64_t value);
void ti_json_i64 (struct ti_json *self, const char *key, int64_t value);
/* The shortest text that reads back as the same double. */
void ti_json_real (struct ti_json *self, const char *key, double value);
void ti_json_bool (struct ti_json *self, const char *key, bool value);
void ti_json_null (struct ti_json *self, const char *key);
/* Nanoseconds as milliseconds with all their decimals, exact: 1500000 is 1.5. */
void ti_json_ms (struct ti_json *self, const char *key, uint64_t ns);

/* End the text with a newline and flush. @return 0, TIED_ERR_SYSTEM (a write failed; see errno) */
TIED_NODISCARD int ti_json_finish (struct ti_json *self);

#endif
