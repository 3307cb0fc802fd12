/* SPDX-License-Identifier: MIT */
/* Streaming JSON writer; see json.h for what it promises. */
#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "text/utf8.h"

#include <tied/error.h>
#include <tied/types.h>

void ti_json_init (struct ti_json *self, FILE *file, uint32_t indent)
{
    memset (self, 0, sizeof *self);
    self->file = file;
    self->indent = indent;
}

static void write_escaped (FILE *file, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    fputc ('"', file);
    while (*s) {
        size_t length = ti_utf8_length (s);
        if (length == 0) {
            fputs ("\\ufffd", file);
            s++;
            continue;
        }
        if (*s == '"' || *s == '\\')
            fprintf (file, "\\%c", *s);
        else if (*s == '\n')
            fputs ("\\n", file);
        else if (*s == '\t')
            fputs ("\\t", file);
        else if (*s < 0x20 || *s == 0x7f || strchr ("<>&", *s))
            fprintf (file, "\\u%04x", (unsigned)*s);
        else
            fwrite (s, 1, length, file);
        s += length;
    }
    fputc ('"', file);
}

static void new_line (struct ti_json *self)
{
    if (self->indent == 0 || self->is_inline[self->depth])
        return;
    fprintf (self->file, "\n%*s", (int)(self->depth * self->indent), "");
}

/* What goes before a value: comma, line, key. */
static void begin_value (struct ti_json *self, const char *key)
{
    TI_ASSERT (!self->has_items[self->depth] || self->depth > 0);
    TI_ASSERT ((key != NULL) == (self->depth > 0 && !self->is_array[self->depth]));
    if (self->has_items[self->depth])
        fputs (self->is_inline[self->depth] && self->indent ? ", " : ",", self->file);
    self->has_items[self->depth] = true;
    if (self->depth > 0)
        new_line (self);
    if (key) {
        write_escaped (self->file, key);
        fputs (self->indent ? ": " : ":", self->file);
    }
}

static void open_level (struct ti_json *self, const char *key, bool is_array, bool is_inline)
{
    begin_value (self, key);
    TI_ASSERT (self->depth + 1 < TI_JSON_DEPTH_MAX);
    bool inherited = self->is_inline[self->depth];
    self->depth++;
    self->has_items[self->depth] = false;
    self->is_array[self->depth] = is_array;
    self->is_inline[self->depth] = is_inline || inherited;
    fputc (is_array ? '[' : '{', self->file);
}

void ti_json_object (struct ti_json *self, const char *key)
{
    open_level (self, key, false, false);
}

void ti_json_array (struct ti_json *self, const char *key)
{
    open_level (self, key, true, false);
}

void ti_json_inline_array (struct ti_json *self, const char *key)
{
    open_level (self, key, true, true);
}

void ti_json_end (struct ti_json *self)
{
    TI_ASSERT (self->depth > 0);
    bool is_array = self->is_array[self->depth];
    bool has_items = self->has_items[self->depth], is_inline = self->is_inline[self->depth];
    self->depth--;
    if (has_items && self->indent && !is_inline)
        fprintf (self->file, "\n%*s", (int)(self->depth * self->indent), "");
    fputc (is_array ? ']' : '}', self->file);
}

void ti_json_string (struct ti_json *self, const char *key, const char *value)
{
    if (!value) {
        ti_json_null (self, key);
        return;
    }
    begin_value (self, key);
    write_escaped (self->file, value);
}

void ti_json_u64 (struct ti_json *self, const char *key, uint64_t value)
{
    begin_value (self, key);
    fprintf (self->file, "%llu", (unsigned long long)value);
}

void ti_json_i64 (struct ti_json *self, const char *key, int64_t value)
{
    begin_value (self, key);
    fprintf (self->file, "%lld", (long long)value);
}

void ti_json_real (struct ti_json *self, const char *key, double value)
{
    if (!isfinite (value)) {
        ti_json_null (self, key);
        return;
    }
    char text[40];
    double size = fabs (value);
    bool wants_exponent = size >= 1e15 || (size > 0 && size < 1e-4);
    for (int digits = 1; digits <= 17; digits++) {
        snprintf (text, sizeof text, "%.*g", digits, value);
        if (strtod (text, NULL) == value && (wants_exponent || !strchr (text, 'e')))
            break;
    }
    begin_value (self, key);
    /* A host that called setlocale () may have another decimal point: JSON knows one. */
    for (const char *c = text; *c; c++)
        fputc (strchr ("+-0123456789e", *c) ? *c : '.', self->file);
}

void ti_json_bool (struct ti_json *self, const char *key, bool value)
{
    begin_value (self, key);
    fputs (value ? "true" : "false", self->file);
}

void ti_json_null (struct ti_json *self, const char *key)
{
    begin_value (self, key);
    fputs ("null", self->file);
}

void ti_json_ms (struct ti_json *self, const char *key, uint64_t ns)
{
    begin_value (self, key);
    uint64_t fraction = ns % TIED_MS (1);
    int decimals = 6;
    while (decimals > 0 && fraction % 10 == 0) {
        fraction /= 10;
        decimals--;
    }
    fprintf (self->file, "%llu", (unsigned long long)(ns / TIED_MS (1)));
    if (decimals > 0)
        fprintf (self->file, ".%0*llu", decimals, (unsigned long long)fraction);
}

int ti_json_finish (struct ti_json *self)
{
    TI_ASSERT (self->depth == 0);
    fputc ('\n', self->file);
    if (fflush (self->file) != 0 || ferror (self->file))
        return TIED_ERR_SYSTEM;
    return TIED_OK;
}
