/* SPDX-License-Identifier: MIT */
/*
 * A matrix that cannot fail proves nothing: each error that is planted in the tie must be seen, in
 * short runs of the rows that are about it; and without one the same rows hold.
 */
#include "check.h"

#include <stdio.h>

#include "theory/verify.h"

/* As long as it takes to see a gross error: intervals may be too wide, but nothing may be out. */
static struct sim_verify run (const char *row, double scale, enum sim_fault fault)
{
    const struct sim_verify_options options = {
        .only = row, .scale = scale, .jobs = 2, .fault = fault};
    struct sim_verify verify;
    char why[SIM_WHY_MAX] = "";
    int rc = sim_verify_run (&options, &verify, why);
    if (rc)
        print_error ("%s: %s\n", row, why);
    CHECK_I64 (rc, ==, 0);
    CHECK_U64 (verify.rows, ==, 1);
    return verify;
}

static bool is_out (const struct sim_verify *verify, const char *quantity)
{
    for (uint32_t i = 0; i < verify->lines_count; i++)
        if (strcmp (verify->lines[i].quantity, quantity) == 0)
            return verify->lines[i].verdict == SIM_VERIFY_OUT;
    CHECK_STR (quantity, "a line");
    return false;
}

static void check_found (const char *row, double scale, enum sim_fault fault, const char *quantity)
{
    struct sim_verify verify = run (row, scale, SIM_FAULT_NONE);
    for (uint32_t i = 0; i < verify.lines_count; i++)
        if (verify.lines[i].verdict == SIM_VERIFY_OUT)
            print_error ("%s is out: z %g, %s\n", verify.lines[i].quantity, verify.lines[i].z,
                         verify.lines[i].note);
    CHECK_U64 (verify.out, ==, 0);
    sim_verify_deinit (&verify);
    verify = run (row, scale, fault);
    CHECK_U64 (verify.out, >, 0);
    CHECK_TRUE (is_out (&verify, quantity));
    sim_verify_deinit (&verify);
}

/* Both copies start, each kills the other: the call is lost. */
static void a_started_that_kills_running_work_is_found (void **state)
{
    (void)state;
    check_found ("race without stagger, n=2, load 0.5", .02, SIM_FAULT_KILL_RUNNING, "identities");
}

/* STARTED overtakes the second copy, which then runs too. */
static void forgotten_tombstones_are_found (void **state)
{
    (void)state;
    check_found ("cancel on start, n=3 d=2, load 0.5", .05, SIM_FAULT_IGNORE_TOMBSTONES,
                 "executions");
}

/* Two idle replicas both start. */
static void an_ignored_stagger_is_found (void **state)
{
    (void)state;
    check_found ("cancel on start, n=3 d=2, load 0.5", .05, SIM_FAULT_IGNORE_STAGGER, "executions");
    check_found ("random delays, stagger 2", .1, SIM_FAULT_IGNORE_STAGGER, "duplicates");
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_started_that_kills_running_work_is_found),
        cmocka_unit_test (forgotten_tombstones_are_found),
        cmocka_unit_test (an_ignored_stagger_is_found),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
