/* SPDX-License-Identifier: MIT */
/* Aligned columns of text; see table.h. */
#include "table.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "base/assert.h"

#define COLUMN_GAP 1
#define GROUP_GAP  3

void ti_table_init (struct ti_table *self,
                    const struct ti_table_group *groups,
                    uint32_t groups_count,
                    const char *const *titles)
{
    memset (self, 0, sizeof *self);
    self->groups = groups;
    self->groups_count = groups_count;
    self->titles = titles;
    for (uint32_t i = 0; i < groups_count; i++)
        self->columns += groups[i].columns;
    TI_ASSERT (self->columns <= TI_TABLE_COLUMNS_MAX);
}

void ti_table_put (struct ti_table *self, uint32_t row, uint32_t *column, const char *format, ...)
{
    TI_ASSERT (row < TI_TABLE_ROWS_MAX);
    TI_ASSERT (*column < self->columns);
    const bool is_name = *column == 0;
    char *cell = is_name ? self->names[row] : self->cells[row][*column];
    va_list args;
    (*column)++;
    va_start (args, format);
    vsnprintf (cell, is_name ? TI_TABLE_NAME_MAX : TI_TABLE_CELL_MAX, format, args);
    va_end (args);
    for (; *cell; cell++)
        if (*cell < ' ' || *cell > '~')
            *cell = '?';
    if (row >= self->rows)
        self->rows = row + 1;
}

const char *ti_table_cell (const struct ti_table *self, uint32_t row, uint32_t column)
{
    return column == 0 ? self->names[row] : self->cells[row][column];
}

static uint32_t larger (uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* Widths of the columns; the last one of a group grows if the group's title needs more. */
static void measure (const struct ti_table *self, uint32_t widths[TI_TABLE_COLUMNS_MAX])
{
    for (uint32_t i = 0; i < self->columns; i++) {
        widths[i] = (uint32_t)strlen (self->titles[i]);
        for (uint32_t row = 0; row < self->rows; row++)
            widths[i] = larger (widths[i], (uint32_t)strlen (ti_table_cell (self, row, i)));
    }
    uint32_t column = 0;
    for (uint32_t g = 0; g < self->groups_count; g++) {
        uint32_t width = 0;
        for (uint32_t i = 0; i < self->groups[g].columns; i++)
            width += widths[column + i] + (i ? COLUMN_GAP : 0);
        uint32_t title = (uint32_t)strlen (self->groups[g].title);
        column += self->groups[g].columns;
        if (title > width)
            widths[column - 1] += title - width;
    }
}

static void write_row (const struct ti_table *self,
                       const uint32_t widths[TI_TABLE_COLUMNS_MAX],
                       const char *const texts[TI_TABLE_COLUMNS_MAX],
                       FILE *file)
{
    uint32_t column = 0;
    for (uint32_t g = 0; g < self->groups_count; g++)
        for (uint32_t i = 0; i < self->groups[g].columns; i++, column++) {
            uint32_t gap = column == 0 ? 0 : i == 0 ? GROUP_GAP : COLUMN_GAP;
            int width = (int)widths[column];
            fprintf (file, "%*s%*s", (int)gap, "", column == 0 ? -width : width, texts[column]);
        }
    fputc ('\n', file);
}

static void write_headings (const struct ti_table *self,
                            const uint32_t widths[TI_TABLE_COLUMNS_MAX],
                            FILE *file)
{
    uint32_t column = 0, pending = 0, total = 0;
    for (uint32_t g = 0; g < self->groups_count; g++) {
        uint32_t width = 0;
        for (uint32_t i = 0; i < self->groups[g].columns; i++)
            width += widths[column++] + (i ? COLUMN_GAP : 0);
        uint32_t gap = g ? GROUP_GAP : 0;
        uint32_t title = (uint32_t)strlen (self->groups[g].title);
        pending += gap;
        total += gap + width;
        if (title) {
            fprintf (file, "%*s%s", (int)pending, "", self->groups[g].title);
            pending = 0;
        }
        pending += width - title;
    }
    fputc ('\n', file);
    write_row (self, widths, self->titles, file);
    for (uint32_t i = 0; i < total; i++)
        fputc ('-', file);
    fputc ('\n', file);
}

void ti_table_write (const struct ti_table *self, FILE *file)
{
    uint32_t widths[TI_TABLE_COLUMNS_MAX] = {0};
    const char *texts[TI_TABLE_COLUMNS_MAX] = {NULL};
    measure (self, widths);
    write_headings (self, widths, file);
    for (uint32_t row = 0; row < self->rows; row++) {
        for (uint32_t i = 0; i < self->columns; i++)
            texts[i] = ti_table_cell (self, row, i);
        write_row (self, widths, texts, file);
    }
}
