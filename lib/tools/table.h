/* SPDX-License-Identifier: MIT */
/*
 * A small table of short texts: the first column to the left, the others to the right, each as wide
 * as its widest cell. The report fills one and shows it both as text and as HTML.
 */
#ifndef TI_TABLE_H
#define TI_TABLE_H

#include <stdint.h>
#include <stdio.h>

#define TI_TABLE_COLUMNS_MAX 20
#define TI_TABLE_ROWS_MAX    512
#define TI_TABLE_CELL_MAX    40
#define TI_TABLE_NAME_MAX    192 /* of the first column, which says what the row is of */

/* A heading over several columns, and a gap before them. */
struct ti_table_group {
    const char *title;
    uint32_t columns;
};

struct ti_table {
    const struct ti_table_group *groups; /* together as many columns as the table has */
    uint32_t groups_count;
    const char *const *titles; /* of the columns */
    uint32_t columns;
    uint32_t rows;
    char names[TI_TABLE_ROWS_MAX][TI_TABLE_NAME_MAX]; /* the first column */
    char cells[TI_TABLE_ROWS_MAX][TI_TABLE_COLUMNS_MAX][TI_TABLE_CELL_MAX];
};

void ti_table_init (struct ti_table *self,
                    const struct ti_table_group *groups,
                    uint32_t groups_count,
                    const char *const *titles);

/*
 * Set the next cell of row, formatted as by printf; longer text is cut, bytes that are not
 * printable ASCII become '?'. *column is advanced.
 */
void ti_table_put (struct ti_table *self, uint32_t row, uint32_t *column, const char *format, ...)
    __attribute__ ((format (printf, 4, 5)));

/* Its text; "" where none was put. */
const char *ti_table_cell (const struct ti_table *self, uint32_t row, uint32_t column);

/* Two heading lines, a rule, the rows. */
void ti_table_write (const struct ti_table *self, FILE *file);

#endif
