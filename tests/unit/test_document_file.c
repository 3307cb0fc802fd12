/* SPDX-License-Identifier: MIT */
/* Files that documents are read from, and what is given instead of one. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tied/error.h>

#include "yaml/document_file.h"

static void a_fifo_that_nobody_writes_to_holds_nobody (void **state)
{
    char folder[] = "/tmp/tied-document-XXXXXX", path[64], why[TI_DOCUMENT_WHY_MAX] = "";
    char *text;
    size_t size;

    (void)state;
    CHECK_PTR (mkdtemp (folder), !=, NULL);
    snprintf (path, sizeof path, "%s/fifo", folder);
    CHECK_I64 (mkfifo (path, 0600), ==, 0);
    alarm (60); /* instead of for ever */
    int rc = ti_document_read_file (path, &text, &size, why);
    alarm (0);
    (void)remove (path);
    (void)remove (folder);
    CHECK_I64 (rc, ==, TIED_ERR_INVAL);
    CHECK_PTR (strstr (why, "/fifo: its end did not come in 3 s"), !=, NULL);
}

static void what_a_pipe_brings_is_read_to_its_end (void **state)
{
    char path[64], why[TI_DOCUMENT_WHY_MAX] = "";
    char *text;
    size_t size;
    int ends[2];

    (void)state;
    CHECK_I64 (pipe (ends), ==, 0);
    CHECK_I64 (write (ends[1], "a: 1\n", 5), ==, 5);
    CHECK_I64 (close (ends[1]), ==, 0);
    snprintf (path, sizeof path, "/dev/fd/%d", ends[0]);
    CHECK_I64 (ti_document_read_file (path, &text, &size, why), ==, 0);
    CHECK_U64 (size, ==, 5);
    CHECK_MEM (text, "a: 1\n", 5);
    free (text);
    CHECK_I64 (close (ends[0]), ==, 0);
}

static void what_is_no_document_is_named_with_the_reason (void **state)
{
    static const struct {
        const char *path, *why;
    } cases[] = {
        {"/tmp/there/is/no/such", "/tmp/there/is/no/such: No such file or directory"},
        {"/tmp", "/tmp: Is a directory"},
        {"/dev/zero", "/dev/zero: is larger than 1 MiB"},
    };
    char why[TI_DOCUMENT_WHY_MAX];
    char *text;
    size_t size;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_I64 (ti_document_read_file (cases[i].path, &text, &size, why), ==, TIED_ERR_INVAL);
        CHECK_STR (why, cases[i].why);
    }
    CHECK_I64 (ti_document_read_file ("/dev/null", &text, &size, why), ==, 0);
    CHECK_U64 (size, ==, 0);
    free (text);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_fifo_that_nobody_writes_to_holds_nobody),
        cmocka_unit_test (what_a_pipe_brings_is_read_to_its_end),
        cmocka_unit_test (what_is_no_document_is_named_with_the_reason),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
