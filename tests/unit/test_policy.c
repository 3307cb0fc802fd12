/* SPDX-License-Identifier: MIT */
/* The settings of a method: defaults, and every range at both ends. */
#include "check.h"

#include <tied/policy.h>

static void check_good (const struct tied_policy *policy)
{
    const char *field = "untouched";
    CHECK_I64 (tied_policy_check (policy, &field), ==, 0);
    CHECK_STR (field, "untouched");
    CHECK_I64 (tied_policy_check (policy, NULL), ==, 0);
}

static void check_bad (const struct tied_policy *policy, const char *name)
{
    const char *field = NULL;
    CHECK_I64 (tied_policy_check (policy, &field), ==, TIED_ERR_INVAL);
    CHECK_STR (field, name);
    CHECK_I64 (tied_policy_check (policy, NULL), ==, TIED_ERR_INVAL);
}

static void the_defaults_are_good_and_send_undeclared_calls_once (void **state)
{
    (void)state;
    struct tied_policy policy;
    memset (&policy, 0xff, sizeof policy);
    tied_policy_init (&policy);
    check_good (&policy);
    CHECK_FALSE (policy.is_idempotent);
    CHECK_FALSE (policy.is_off);
    CHECK_FALSE (policy.is_shadow);
    CHECK_TRUE (policy.is_governed);
    CHECK_U64 (policy.mode, ==, TIED_MODE_TIED);
    CHECK_U64 (policy.hedge.kind, ==, TIED_HEDGE_RULE_NEVER);
    CHECK_U64 (policy.extra_load_ppm, ==, 50000);
    CHECK_U64 (policy.burst_milli, ==, 10 * 1000);
    CHECK_U64 (policy.debt_milli, ==, 1000 * 1000);
    CHECK_U64 (policy.target_ppm, ==, 999000);
    CHECK_U64 (policy.hedge_initial_ns, ==, MS (100));
    CHECK_U64 (policy.waits_count, ==, 0);
}

static void no_policy_is_refused (void **state)
{
    (void)state;
    check_bad (NULL, "policy");
}

/* A field at both ends of its range, and one beyond. */
#define RANGE(field, low, high)                                                                    \
    do {                                                                                           \
        struct tied_policy policy;                                                                 \
        const uint64_t low_ = (low);                                                               \
        tied_policy_init (&policy);                                                                \
        policy.field = (low);                                                                      \
        check_good (&policy);                                                                      \
        policy.field = (high);                                                                     \
        check_good (&policy);                                                                      \
        policy.field = (high) + 1;                                                                 \
        check_bad (&policy, #field);                                                               \
        if (low_ > 0) {                                                                            \
            policy.field = (low)-1;                                                                \
            check_bad (&policy, #field);                                                           \
        }                                                                                          \
    } while (0)

static void BE_03_each_field_is_refused_by_name_beyond_its_range (void **state)
{
    (void)state;
    RANGE (canary_ppm, 0u, TIED_PPM);
    RANGE (stagger_ns, 0u, S (3600));
    RANGE (hedge_initial_ns, US (500), S (10));
    RANGE (min_samples, 1u, 1u << 20);
    RANGE (target_ppm, 500000u, 999999u);
    RANGE (extra_load_ppm, 0u, TIED_PPM);
    RANGE (burst_milli, 1000u, 1u << 30);
    RANGE (debt_milli, 0u, 1u << 30);
    RANGE (min_remaining_ns, 0u, S (3600));
    RANGE (governor.window_ns, MS (10), S (3600));
    RANGE (governor.hold_ns, 0u, S (3600));
    RANGE (governor.min_events, 1u, 1u << 20);
    RANGE (governor.rejected_ppm, 0u, TIED_PPM);
    RANGE (governor.error_ppm, 0u, TIED_PPM);
    RANGE (governor.duplicate_ppm, 0u, TIED_PPM);
    RANGE (governor.win_ppm, 0u, TIED_PPM);
}

static void BE_03_not_a_number_and_minus_one_are_refused_in_shares (void **state)
{
    (void)state;
    struct tied_policy policy;
    tied_policy_init (&policy);
    /* What is left of a NaN or an infinity that somebody has converted. */
    policy.extra_load_ppm = UINT32_C (1) << 31;
    check_bad (&policy, "extra_load_ppm");
    policy.extra_load_ppm = (uint32_t)-1;
    check_bad (&policy, "extra_load_ppm");
}

static void the_limits_of_a_hedge_enclose_each_other (void **state)
{
    (void)state;
    struct tied_policy policy;
    tied_policy_init (&policy);
    policy.hedge_floor_ns = policy.hedge_initial_ns = policy.hedge_ceiling_ns = MS (3);
    check_good (&policy);
    policy.hedge_floor_ns = MS (3) + 1;
    check_bad (&policy, "hedge_floor_ns");
    policy.hedge_floor_ns = 0;
    policy.hedge_initial_ns = MS (3) + 1;
    check_bad (&policy, "hedge_initial_ns");
    policy.hedge_initial_ns = TIED_NEVER;
    check_good (&policy);
    policy.hedge_floor_ns = policy.hedge_initial_ns = policy.hedge_ceiling_ns = 0;
    check_good (&policy);
    policy.hedge_initial_ns = policy.hedge_ceiling_ns = S (3600);
    check_good (&policy);
    policy.hedge_ceiling_ns++;
    check_bad (&policy, "hedge_ceiling_ns");
}

static void an_automatic_stagger_is_good (void **state)
{
    (void)state;
    struct tied_policy policy;
    tied_policy_init (&policy);
    policy.stagger_ns = MS (1);
    check_good (&policy);
    policy.stagger_ns = TIED_STAGGER_AUTO;
    check_good (&policy);
    policy.stagger_ns = TIED_STAGGER_AUTO - 1;
    check_bad (&policy, "stagger_ns");
}

static void every_mode_is_known_and_no_other (void **state)
{
    (void)state;
    struct tied_policy policy;
    uint32_t next = 0;
    tied_policy_init (&policy);
#define CHECK_MODE(name, value, text)                                                              \
    policy.mode = (value);                                                                         \
    check_good (&policy);                                                                          \
    next = (value) + 1 > next ? (value) + 1 : next;
    TIED_MODE_MAP (CHECK_MODE)
#undef CHECK_MODE
    policy.mode = next;
    check_bad (&policy, "mode");
    policy.mode = UINT32_MAX;
    check_bad (&policy, "mode");
}

static void another_size_is_refused (void **state)
{
    (void)state;
    struct tied_policy policy;
    tied_policy_init (&policy);
    policy.struct_size--;
    check_bad (&policy, "struct_size");
}

static void a_bad_hedge_rule_is_refused (void **state)
{
    (void)state;
    struct tied_policy policy;
    tied_policy_init (&policy);
    policy.hedge.kind = TIED_HEDGE_RULE_MIN;
    check_bad (&policy, "hedge");
    policy.hedge.count = 1;
    check_good (&policy);
    policy.hedge.terms[0].value = S (3600) + 1;
    check_bad (&policy, "hedge");
    policy.hedge.terms[0] = (struct tied_hedge_term){true, 0};
    check_bad (&policy, "hedge");
    policy.hedge.terms[0].value = TIED_PPM;
    check_bad (&policy, "hedge");
    policy.hedge.terms[0].value = TIED_PPM - 1;
    check_good (&policy);
    policy.hedge.count = TIED_HEDGE_TERMS_MAX + 1;
    check_bad (&policy, "hedge");
    policy.hedge.count = 1;
    policy.hedge.kind = TIED_HEDGE_RULE_AUTO;
    check_bad (&policy, "hedge");
    policy.hedge.count = 0;
    check_good (&policy);
    policy.hedge.kind = 4;
    check_bad (&policy, "hedge");
}

static void ranges_of_status_begin_at_one_and_rise (void **state)
{
    (void)state;
    struct tied_policy policy;
    tied_policy_init (&policy);
    policy.waits_count = TIED_POLICY_WAITS_MAX;
    for (uint32_t i = 0; i < TIED_POLICY_WAITS_MAX; i++)
        policy.waits[i] = (struct tied_status_range){1, UINT32_MAX};
    check_good (&policy);
    policy.waits[TIED_POLICY_WAITS_MAX - 1] = (struct tied_status_range){0, 1};
    check_bad (&policy, "waits");
    policy.waits[TIED_POLICY_WAITS_MAX - 1] = (struct tied_status_range){5, 4};
    check_bad (&policy, "waits");
    policy.waits_count--;
    check_good (&policy);
    policy.waits_count = TIED_POLICY_WAITS_MAX + 1;
    check_bad (&policy, "waits_count");
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (the_defaults_are_good_and_send_undeclared_calls_once),
        cmocka_unit_test (no_policy_is_refused),
        cmocka_unit_test (BE_03_each_field_is_refused_by_name_beyond_its_range),
        cmocka_unit_test (BE_03_not_a_number_and_minus_one_are_refused_in_shares),
        cmocka_unit_test (the_limits_of_a_hedge_enclose_each_other),
        cmocka_unit_test (an_automatic_stagger_is_good),
        cmocka_unit_test (every_mode_is_known_and_no_other),
        cmocka_unit_test (another_size_is_refused),
        cmocka_unit_test (a_bad_hedge_rule_is_refused),
        cmocka_unit_test (ranges_of_status_begin_at_one_and_rise),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
