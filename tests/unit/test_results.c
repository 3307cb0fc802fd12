/* SPDX-License-Identifier: MIT */
/* The table of results by key, without a replica. */
#include "check.h"

#include <stdio.h>

#include "../../replica/src/results.h"
#include "base/prng.h"

static struct tied_view view (const char *text)
{
    return (struct tied_view){text, strlen (text)};
}

static struct ti_result_key
key_of (const struct ti_results *table, const char *method, const char *key, const char *body)
{
    return ti_results_key (table, view (method), view (key), view (body));
}

static struct ti_results make (uint32_t max, uint64_t bytes, tied_duration_t ttl)
{
    struct ti_results table;

    CHECK_I64 (ti_results_init (&table, max, bytes, ttl, 42), ==, 0);
    return table;
}

/* Claims and stores in one go. */
static void put (struct ti_results *table, const char *key, const char *result, tied_time_t now)
{
    const struct ti_result_key k = key_of (table, "m", key, "body");
    uint32_t index = TI_RESULT_NONE;

    CHECK_U64 (ti_results_look (table, &k, now, &index), ==, TI_RESULT_NEW);
    ti_results_store (table, ti_results_claim (table, &k, 7), 3, view (result), now);
    ti_results_check (table);
}

static enum ti_result_verdict look (struct ti_results *table,
                                    const char *method,
                                    const char *key,
                                    const char *body,
                                    tied_time_t now)
{
    const struct ti_result_key k = key_of (table, method, key, body);
    uint32_t index;
    const enum ti_result_verdict verdict = ti_results_look (table, &k, now, &index);

    ti_results_check (table);
    return verdict;
}

static void a_result_is_found_by_method_key_and_body (void **state)
{
    struct ti_results table = make (4, 100, S (1));
    uint32_t index;
    (void)state;
    put (&table, "k", "result", S (5));
    const struct ti_result_key k = key_of (&table, "m", "k", "body");
    CHECK_U64 (ti_results_look (&table, &k, S (5), &index), ==, TI_RESULT_STORED);
    CHECK_U64 (table.items[index].status, ==, 3);
    CHECK_U64 (table.items[index].body_size, ==, 6);
    CHECK_MEM (table.items[index].body, "result", 6);
    CHECK_U64 (look (&table, "n", "k", "body", S (5)), ==, TI_RESULT_NEW);
    CHECK_U64 (look (&table, "m", "l", "body", S (5)), ==, TI_RESULT_NEW);
    /* The border between the two is part of it. */
    CHECK_U64 (look (&table, "mk", "", "body", S (5)), ==, TI_RESULT_NEW);
    ti_results_deinit (&table);
}

static void RQ_22_a_key_with_another_body_is_told_apart (void **state)
{
    struct ti_results table = make (4, 100, S (1));
    (void)state;
    const struct ti_result_key k = key_of (&table, "m", "k", "body");
    const uint32_t index = ti_results_claim (&table, &k, 7);
    CHECK_U64 (look (&table, "m", "k", "body", 0), ==, TI_RESULT_PENDING);
    CHECK_U64 (look (&table, "m", "k", "bodx", 0), ==, TI_RESULT_REUSED);
    ti_results_store (&table, index, 0, view (""), 0);
    CHECK_U64 (look (&table, "m", "k", "body", 0), ==, TI_RESULT_STORED);
    CHECK_U64 (look (&table, "m", "k", "bodx", 0), ==, TI_RESULT_REUSED);
    CHECK_U64 (look (&table, "m", "k", "", 0), ==, TI_RESULT_REUSED);
    ti_results_deinit (&table);
}

static void a_holder_that_leaves_makes_the_key_new_again (void **state)
{
    struct ti_results table = make (4, 100, S (1));
    (void)state;
    const struct ti_result_key k = key_of (&table, "m", "k", "body");
    ti_results_drop (&table, ti_results_claim (&table, &k, 7));
    CHECK_U64 (look (&table, "m", "k", "other", 0), ==, TI_RESULT_NEW);
    CHECK_U64 (table.pending_count, ==, 0);
    ti_results_deinit (&table);
}

static void the_oldest_result_makes_room_for_a_new_key (void **state)
{
    struct ti_results table = make (3, 100, S (100));
    (void)state;
    put (&table, "a", "1", S (1));
    put (&table, "b", "2", S (2));
    put (&table, "c", "3", S (3));
    put (&table, "d", "4", S (4));
    CHECK_U64 (table.evicted, ==, 1);
    CHECK_U64 (table.stored_count, ==, 3);
    CHECK_U64 (look (&table, "m", "a", "body", S (4)), ==, TI_RESULT_NEW);
    CHECK_U64 (look (&table, "m", "b", "body", S (4)), ==, TI_RESULT_STORED);
    ti_results_deinit (&table);
}

static void pending_keys_are_never_evicted (void **state)
{
    struct ti_results table = make (2, 100, S (100));
    (void)state;
    const struct ti_result_key a = key_of (&table, "m", "a", ""), b = key_of (&table, "m", "b", "");
    const uint32_t first = ti_results_claim (&table, &a, 1);
    (void)ti_results_claim (&table, &b, 2);
    CHECK_U64 (look (&table, "m", "c", "", 0), ==, TI_RESULT_FULL);
    CHECK_U64 (look (&table, "m", "a", "", 0), ==, TI_RESULT_PENDING);
    ti_results_store (&table, first, 0, view ("x"), 0);
    CHECK_U64 (look (&table, "m", "c", "", 0), ==, TI_RESULT_NEW);
    ti_results_deinit (&table);
}

static void RQ_22_the_byte_cap_holds (void **state)
{
    enum {
        BODY = 1000000,
        COUNT = 100000
    };
    struct ti_results table = make (1 << 17, UINT64_C (10) * BODY, S (1000));
    const uint64_t count = check_scale (COUNT);
    char *body = calloc (1, BODY);
    char name[24];
    (void)state;
    for (uint64_t i = 0; i < count; i++) {
        (void)snprintf (name, sizeof name, "%" PRIu64, i);
        const struct ti_result_key k = key_of (&table, "m", name, "");
        ti_results_store (&table, ti_results_claim (&table, &k, 0), 0,
                          (struct tied_view){body, BODY}, i);
        CHECK_U64 (table.bytes, <=, 10 * BODY);
    }
    ti_results_check (&table);
    CHECK_U64 (table.stored_count, ==, 10);
    CHECK_U64 (table.evicted, ==, count - 10);
    free (body);
    ti_results_deinit (&table);
}

static void what_is_larger_than_all_room_is_not_kept_and_evicts_nothing (void **state)
{
    struct ti_results table = make (4, 4, S (100));
    (void)state;
    put (&table, "a", "1234", 0);
    put (&table, "b", "12345", 0);
    CHECK_U64 (table.too_large, ==, 1);
    CHECK_U64 (table.stored, ==, 1);
    CHECK_U64 (look (&table, "m", "a", "body", 0), ==, TI_RESULT_STORED);
    CHECK_U64 (look (&table, "m", "b", "body", 0), ==, TI_RESULT_NEW);
    ti_results_deinit (&table);
}

static void without_bytes_only_empty_results_are_kept (void **state)
{
    struct ti_results table = make (4, 0, S (100));
    (void)state;
    put (&table, "a", "", 0);
    put (&table, "b", "x", 0);
    CHECK_U64 (look (&table, "m", "a", "body", 0), ==, TI_RESULT_STORED);
    CHECK_U64 (look (&table, "m", "b", "body", 0), ==, TI_RESULT_NEW);
    ti_results_deinit (&table);
}

static void RQ_23_what_is_old_goes_unasked (void **state)
{
    struct ti_results table = make (8, 100, S (10));
    (void)state;
    put (&table, "a", "1", S (1));
    put (&table, "b", "22", S (2));
    put (&table, "c", "333", S (3));
    CHECK_U64 (ti_results_deadline (&table), ==, S (11));
    ti_results_age (&table, S (11) - 1, 100);
    CHECK_U64 (table.stored_count, ==, 3);
    ti_results_age (&table, S (12), 1);
    CHECK_U64 (table.stored_count, ==, 2);
    ti_results_age (&table, S (12), 100);
    ti_results_check (&table);
    CHECK_U64 (table.stored_count, ==, 1);
    CHECK_U64 (table.bytes, ==, 3);
    CHECK_U64 (table.expired, ==, 2);
    ti_results_age (&table, S (100), 100);
    CHECK_U64 (ti_results_deadline (&table), ==, TIED_NEVER);
    ti_results_deinit (&table);
}

static void an_old_result_is_not_answered (void **state)
{
    struct ti_results table = make (8, 100, S (10));
    (void)state;
    put (&table, "a", "1", S (1));
    CHECK_U64 (look (&table, "m", "a", "body", S (11) - 1), ==, TI_RESULT_STORED);
    CHECK_U64 (look (&table, "m", "a", "body", S (11)), ==, TI_RESULT_NEW);
    CHECK_U64 (table.expired, ==, 1);
    CHECK_U64 (table.stored_count, ==, 0);
    ti_results_deinit (&table);
}

/* Against a naive model: per key its state, body and age. */
static void it_agrees_with_a_naive_table (void **state)
{
    enum {
        KEYS = 12,
        MAX = 5,
        BYTES = 40,
        TTL = 50
    };
    struct {
        int state;
        size_t size;
        tied_time_t until;
        uint64_t order;
        uint32_t index;
    } model[KEYS];
    struct ti_results table = make (MAX, BYTES, TTL);
    struct ti_prng prng;
    tied_time_t now = 0;
    uint64_t order = 0;
    static const char result[] = "123456789012345678901234567890123456789012345678";
    (void)state;
    memset (model, 0, sizeof model);
    ti_prng_seed (&prng, 11);
    for (uint64_t step = 0; step < check_scale (200000); step++) {
        const uint32_t n = (uint32_t)(ti_prng_next (&prng) % KEYS);
        const char name[2] = {(char)('a' + n), 0};
        const struct ti_result_key k = key_of (&table, "m", name, "b");
        uint32_t index = TI_RESULT_NONE, pending = 0, stored = 0, bytes = 0;
        now += ti_prng_next (&prng) % 8;
        if (ti_prng_next (&prng) % 8 == 0) {
            ti_results_age (&table, now, UINT32_MAX);
            for (uint32_t i = 0; i < KEYS; i++)
                if (model[i].state == 2 && model[i].until <= now)
                    model[i].state = 0;
        }
        const enum ti_result_verdict got = ti_results_look (&table, &k, now, &index);
        if (model[n].state == 2 && model[n].until <= now)
            model[n].state = 0;
        for (uint32_t i = 0; i < KEYS; i++) {
            pending += model[i].state == 1;
            stored += model[i].state == 2;
            bytes += model[i].state == 2 ? (uint32_t)model[i].size : 0;
        }
        CHECK_U64 (table.pending_count, ==, pending);
        CHECK_U64 (table.stored_count, ==, stored);
        CHECK_U64 (table.bytes, ==, bytes);
        if (model[n].state == 2) {
            CHECK_U64 (got, ==, TI_RESULT_STORED);
            CHECK_U64 (table.items[index].body_size, ==, model[n].size);
        } else if (model[n].state == 1) {
            CHECK_U64 (got, ==, TI_RESULT_PENDING);
            CHECK_U64 (index, ==, model[n].index);
            CHECK_U64 (table.items[index].holder, ==, n);
            if (ti_prng_next (&prng) % 4 == 0) {
                ti_results_drop (&table, index);
                model[n].state = 0;
            } else {
                const size_t size = ti_prng_next (&prng) % 45;
                ti_results_store (&table, index, 0, (struct tied_view){result, size}, now);
                model[n].state = size <= BYTES ? 2 : 0;
                model[n].size = size;
                model[n].until = now + TTL;
                model[n].order = ++order;
                while (model[n].state == 2 && bytes + size > BYTES) {
                    uint32_t old = n;
                    for (uint32_t i = 0; i < KEYS; i++)
                        if (model[i].state == 2 && model[i].order < model[old].order)
                            old = i;
                    bytes -= (uint32_t)model[old].size;
                    model[old].state = 0;
                }
            }
        } else if (pending == MAX) {
            CHECK_U64 (got, ==, TI_RESULT_FULL);
        } else {
            CHECK_U64 (got, ==, TI_RESULT_NEW);
            if (pending + stored == MAX) {
                uint32_t old = KEYS;
                for (uint32_t i = 0; i < KEYS; i++)
                    if (model[i].state == 2 && (old == KEYS || model[i].order < model[old].order))
                        old = i;
                model[old].state = 0;
            }
            model[n].index = ti_results_claim (&table, &k, n);
            model[n].state = 1;
        }
        ti_results_check (&table);
    }
    ti_results_deinit (&table);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_result_is_found_by_method_key_and_body),
        cmocka_unit_test (RQ_22_a_key_with_another_body_is_told_apart),
        cmocka_unit_test (a_holder_that_leaves_makes_the_key_new_again),
        cmocka_unit_test (the_oldest_result_makes_room_for_a_new_key),
        cmocka_unit_test (pending_keys_are_never_evicted),
        cmocka_unit_test (RQ_22_the_byte_cap_holds),
        cmocka_unit_test (what_is_larger_than_all_room_is_not_kept_and_evicts_nothing),
        cmocka_unit_test (without_bytes_only_empty_results_are_kept),
        cmocka_unit_test (RQ_23_what_is_old_goes_unasked),
        cmocka_unit_test (an_old_result_is_not_answered),
        cmocka_unit_test (it_agrees_with_a_naive_table),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
