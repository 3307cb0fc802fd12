/* SPDX-License-Identifier: MIT */
/* The hash of bytes. */
#include "base/hash.h"
#include "check.h"

static void it_is_fnv_1a_of_64_bits (void **state)
{
    (void)state;
    /* Of the published test vectors. */
    CHECK_U64 (ti_hash_text (""), ==, UINT64_C (0xcbf29ce484222325));
    CHECK_U64 (ti_hash_text ("a"), ==, UINT64_C (0xaf63dc4c8601ec8c));
    CHECK_U64 (ti_hash_text ("foobar"), ==, UINT64_C (0x85944171f73967e8));
    CHECK_U64 (ti_hash_bytes ("foobar", 6), ==, ti_hash_text ("foobar"));
    CHECK_U64 (ti_hash_bytes ("a\0", 2), !=, ti_hash_text ("a"));
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (it_is_fnv_1a_of_64_bits),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
