/* SPDX-License-Identifier: MIT */
/* Printed names, error texts and the version: every entry of every list, and what lies outside. */
#include "check.h"

#include <limits.h>

#include <tied/error.h>
#include <tied/types.h>
#include <tied/version.h>
#include <tied/wire.h>

typedef const char *(name_fn)(int value);

/* Every value of the list has a name of its own, made of lower case letters and underscores. */
static void check_list (name_fn *name, const int *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *text = name (values[i]);
        CHECK_TRUE (text[0] != '\0');
        CHECK_U64 (strspn (text, "abcdefghijklmnopqrstuvwxyz_"), ==, strlen (text));
        for (size_t k = 0; k < i; k++)
            CHECK_TRUE (strcmp (text, name (values[k])) != 0);
    }
    CHECK_STR (name (-1), "?");
    CHECK_STR (name (1000), "?");
    CHECK_STR (name (INT_MIN), "?");
    CHECK_STR (name (INT_MAX), "?");
}

#define VALUE_(name, value, text) (value),
#define CHECK_LIST(fn, map)                                                                        \
    do {                                                                                           \
        static const int values[] = {map (VALUE_)};                                                \
        check_list (fn, values, sizeof values / sizeof *values);                                   \
    } while (0)

static void each_list_has_one_name_per_value (void **state)
{
    (void)state;
    CHECK_LIST (tied_mode_name, TIED_MODE_MAP);
    CHECK_LIST (tied_outcome_name, TIED_OUTCOME_MAP);
    CHECK_LIST (tied_reject_name, TIED_REJECT_MAP);
    CHECK_LIST (tied_cancel_name, TIED_CANCEL_MAP);
    CHECK_LIST (tied_not_sent_name, TIED_NOT_SENT_MAP);
    CHECK_LIST (tied_governor_state_name, TIED_GOVERNOR_STATE_MAP);
    CHECK_LIST (tied_governor_reason_name, TIED_GOVERNOR_REASON_MAP);
    CHECK_LIST (tied_copy_fate_name, TIED_COPY_MAP);
    CHECK_LIST (tied_wire_type_name, TIED_WIRE_TYPE_MAP);
    CHECK_LIST (tied_wire_fault_name, TIED_WIRE_FAULT_MAP);
}

/* Names that appear in JSON and logs: others read them, so they are pinned here. */
static void names_are_those_of_the_documents (void **state)
{
    (void)state;
    CHECK_STR (tied_mode_name (TIED_MODE_TIED), "tied");
    CHECK_STR (tied_outcome_name (TIED_OUTCOME_OK), "ok");
    CHECK_STR (tied_outcome_name (TIED_OUTCOME_APP_ERROR), "app_error");
    CHECK_STR (tied_outcome_name (TIED_OUTCOME_INVALID), "invalid");
    CHECK_STR (tied_reject_name (TIED_REJECT_TOO_LATE), "too_late");
    CHECK_STR (tied_cancel_name (TIED_CANCEL_WON), "won");
    CHECK_STR (tied_not_sent_name (TIED_NOT_SENT_NOT_IDEMPOTENT), "not_idempotent");
    CHECK_STR (tied_copy_fate_name (TIED_COPY_LOST_RACE), "lost_race");
    CHECK_STR (tied_wire_type_name (TIED_WIRE_STARTED), "started");
    CHECK_STR (tied_wire_fault_name (TIED_WIRE_FAULT_TOO_DEEP), "too_deep");
}

static void no_reason_is_printed_as_none (void **state)
{
    (void)state;
    CHECK_STR (tied_reject_name (TIED_REJECT_NONE), "none");
    CHECK_STR (tied_cancel_name (TIED_CANCEL_NONE), "none");
    CHECK_STR (tied_not_sent_name (TIED_NOT_SENT_NONE), "none");
    CHECK_STR (tied_wire_type_name (0), "?");
}

static void every_error_has_text_name_and_retriable_flag (void **state)
{
    (void)state;
#define ERROR_(name, value, retriable, text)                                                       \
    CHECK_STR (tied_error_text (TIED_ERR_##name), text);                                           \
    CHECK_STR (tied_error_name (TIED_ERR_##name), "TIED_ERR_" #name);                              \
    CHECK_I64 (tied_error_is_retriable (TIED_ERR_##name), ==, retriable);                          \
    CHECK_I64 (TIED_ERR_##name, <, 0);
    TIED_ERROR_MAP (ERROR_)
}

static void codes_that_are_no_error_are_told_apart (void **state)
{
    (void)state;
    CHECK_STR (tied_error_text (0), "success");
    CHECK_STR (tied_error_name (0), "TIED_OK");
    CHECK_I64 (tied_error_is_retriable (0), ==, 0);
    static const int strangers[] = {1, -1000, INT_MIN, INT_MAX};
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
        CHECK_STR (tied_error_text (strangers[i]), "unknown error");
        CHECK_STR (tied_error_name (strangers[i]), "TIED_ERR_?");
        CHECK_I64 (tied_error_is_retriable (strangers[i]), ==, 0);
    }
}

static void version_is_that_of_the_header_and_outputs_are_optional (void **state)
{
    (void)state;
    int major = -1;
    int minor = -1;
    int patch = -1;
    tied_version (&major, &minor, &patch);
    CHECK_I64 (major, ==, TIED_VERSION_MAJOR);
    CHECK_I64 (minor, ==, TIED_VERSION_MINOR);
    CHECK_I64 (patch, ==, TIED_VERSION_PATCH);
    tied_version (NULL, NULL, NULL);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (each_list_has_one_name_per_value),
        cmocka_unit_test (names_are_those_of_the_documents),
        cmocka_unit_test (no_reason_is_printed_as_none),
        cmocka_unit_test (every_error_has_text_name_and_retriable_flag),
        cmocka_unit_test (codes_that_are_no_error_are_told_apart),
        cmocka_unit_test (version_is_that_of_the_header_and_outputs_are_optional),
    };
    return cmocka_run_group_tests_name ("names", tests, NULL, NULL);
}
