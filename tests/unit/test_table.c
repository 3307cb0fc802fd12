/* SPDX-License-Identifier: MIT */
/* Alignment of the text table. */
#include "check.h"

#include <stdio.h>

#include "tools/table.h"

static const struct ti_table_group groups[] = {{"", 1}, {"latency, ms", 2}, {"late", 1}};
static const char *const titles[] = {"policy", "p50", "p99", "n"};

/* Not inlined: gcc 12 then takes the stream's buffer for the local variable that names it. */
__attribute__ ((noinline)) static char *written (const struct ti_table *table)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream (&text, &size);
    ti_table_write (table, file);
    fclose (file);
    return text;
}

static void put_row (struct ti_table *table, uint32_t row, const char *const cells[4])
{
    uint32_t column = 0;
    for (int i = 0; i < 4; i++)
        ti_table_put (table, row, &column, "%s", cells[i]);
    CHECK_U64 (column, ==, 4);
}

static void columns_are_as_wide_as_their_widest_cell_or_group (void **state)
{
    (void)state;
    struct ti_table table;
    ti_table_init (&table, groups, 3, titles);
    put_row (&table, 0, (const char *const[]){"single", "9.87", "1234", "0"});
    put_row (&table, 1, (const char *const[]){"tied-informed", "1", "2", "77"});
    char *text = written (&table);
    CHECK_STR (text, "                latency, ms   late\n"
                     "policy           p50    p99      n\n"
                     "----------------------------------\n"
                     "single          9.87   1234      0\n"
                     "tied-informed      1      2     77\n");
    free (text);
}

static void an_empty_table_has_its_headings (void **state)
{
    (void)state;
    struct ti_table table;
    ti_table_init (&table, groups, 3, titles);
    char *text = written (&table);
    CHECK_STR (text, "         latency, ms   late\n"
                     "policy   p50     p99      n\n"
                     "---------------------------\n");
    free (text);
}

static void long_and_unprintable_cells_are_cut_and_replaced (void **state)
{
    (void)state;
    struct ti_table table;
    char longer[1000];
    memset (longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    ti_table_init (&table, groups, 3, titles);
    put_row (&table, 0, (const char *const[]){longer, "\x1b[2J", "a\nb", "\xc3\xa4"});
    put_row (&table, 1, (const char *const[]){"a", longer, "b", "c"});
    CHECK_U64 (strlen (ti_table_cell (&table, 0, 0)), ==, TI_TABLE_NAME_MAX - 1);
    CHECK_U64 (strlen (ti_table_cell (&table, 1, 1)), ==, TI_TABLE_CELL_MAX - 1);
    CHECK_STR (ti_table_cell (&table, 0, 1), "?[2J");
    CHECK_STR (ti_table_cell (&table, 0, 2), "a?b");
    CHECK_STR (ti_table_cell (&table, 0, 3), "??");
    char *text = written (&table);
    for (const char *c = text; *c; c++)
        CHECK_TRUE (*c == '\n' || (*c >= ' ' && *c <= '~'));
    free (text);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (columns_are_as_wide_as_their_widest_cell_or_group),
        cmocka_unit_test (an_empty_table_has_its_headings),
        cmocka_unit_test (long_and_unprintable_cells_are_cut_and_replaced),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
