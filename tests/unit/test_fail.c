/* SPDX-License-Identifier: MIT */
/* What a program says when it cannot go on is one line that a terminal can show. */
#include "check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tied/error.h>

#include "text/quote.h"
#include "tools/cli.h"
#include "tools/fail.h"

static void what_is_no_text_becomes_question_marks (void **state)
{
    static const struct {
        const char *from, *to;
    } cases[] = {
        {"", ""},
        {"plain, with 'marks' and \\", "plain, with 'marks' and \\"},
        {"a\nb\tc\x7f", "a?b?c?"},
        {"\x1b[31mred", "?[31mred"},
        {"caf\xc3\xa9 \xe2\x82\xac", "caf\xc3\xa9 \xe2\x82\xac"},
        {"caf\xc3", "caf?"},    /* cut in the middle */
        {"\xff\xfe !", "?? !"}, /* not UTF-8 */
        {"\xc2\x9b"
         "31m",
         "??31m"}, /* a control character of two bytes */
        {"\xc2\xa0", "\xc2\xa0"},
    };
    char text[64];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf (text, sizeof text, "%s", cases[i].from);
        CHECK_STR (ti_plain (text), cases[i].to);
    }
}

static void what_the_system_refuses_says_what_to_look_at (void **state)
{
    (void)state;
    CHECK_PTR (strstr (ti_fail_reason (TIED_ERR_SYSTEM), tied_error_text (TIED_ERR_SYSTEM)), !=,
               NULL);
    CHECK_PTR (strstr (ti_fail_reason (TIED_ERR_SYSTEM), "ulimit -n"), !=, NULL);
    CHECK_STR (ti_fail_reason (TIED_ERR_IN_USE), tied_error_text (TIED_ERR_IN_USE));
}

static void a_line_stays_one_whatever_is_in_it (void **state)
{
    char *said = NULL;
    size_t size = 0;
    FILE *err = open_memstream (&said, &size);

    (void)state;
    CHECK_PTR (err, !=, NULL);
    CHECK_I64 (ti_fail (err, "tied-test", "file %s: %s", "a\nb", "odd"), ==, TI_EXIT_FAILED);
    errno = ENOSPC;
    CHECK_I64 (ti_fail_write (err, "tied-test", "a\nb"), ==, TI_EXIT_FAILED);
    errno = ENOSPC;
    CHECK_I64 (ti_fail_write (err, "tied-test", NULL), ==, TI_EXIT_FAILED);
    CHECK_I64 (fclose (err), ==, 0);
    CHECK_STR (said, "tied-test: file a?b: odd\n"
                     "tied-test: cannot write a?b: No space left on device\n"
                     "tied-test: cannot write to standard output: No space left on device\n");
    free (said);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (what_is_no_text_becomes_question_marks),
        cmocka_unit_test (what_the_system_refuses_says_what_to_look_at),
        cmocka_unit_test (a_line_stays_one_whatever_is_in_it),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
