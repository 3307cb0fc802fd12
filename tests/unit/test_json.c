/* SPDX-License-Identifier: MIT */
/* The JSON writer, read back by jansson as an independent reader. */
#include "check.h"

#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>

#include "base/util.h"
#include "tools/json.h"

#include <tied/error.h>

struct output {
    char *text;
    size_t size;
    FILE *file;
    struct ti_json json;
};

static void begin (struct output *output, uint32_t indent)
{
    output->file = open_memstream (&output->text, &output->size);
    ti_json_init (&output->json, output->file, indent);
}

/* The text as jansson reads it; the caller's reference. */
static json_t *parse (struct output *output)
{
    json_error_t error;
    CHECK_I64 (ti_json_finish (&output->json), ==, TIED_OK);
    fclose (output->file);
    json_t *root = json_loads (output->text, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (!root)
        print_error ("%s in: %s\n", error.text, output->text);
    CHECK_TRUE (root != NULL);
    return root;
}

static void values_of_every_type_read_back (void **state)
{
    (void)state;
    for (uint32_t indent = 0; indent <= 4; indent += 2) {
        struct output o;
        begin (&o, indent);
        ti_json_object (&o.json, NULL);
        ti_json_string (&o.json, "s", "text");
        ti_json_string (&o.json, "none", NULL);
        ti_json_u64 (&o.json, "u", INT64_MAX);
        ti_json_i64 (&o.json, "i", INT64_MIN);
        ti_json_real (&o.json, "r", 0.1);
        ti_json_bool (&o.json, "t", true);
        ti_json_bool (&o.json, "f", false);
        ti_json_ms (&o.json, "ms", 1500001);
        ti_json_object (&o.json, "empty");
        ti_json_end (&o.json);
        ti_json_inline_array (&o.json, "a");
        ti_json_u64 (&o.json, NULL, 1);
        ti_json_array (&o.json, NULL);
        ti_json_end (&o.json);
        ti_json_object (&o.json, NULL);
        ti_json_null (&o.json, "x");
        ti_json_end (&o.json);
        ti_json_end (&o.json);
        ti_json_end (&o.json);
        json_t *root = parse (&o);
        CHECK_STR (json_string_value (json_object_get (root, "s")), "text");
        CHECK_TRUE (json_is_null (json_object_get (root, "none")));
        CHECK_I64 (json_integer_value (json_object_get (root, "u")), ==, INT64_MAX);
        CHECK_I64 (json_integer_value (json_object_get (root, "i")), ==, INT64_MIN);
        CHECK_DBL (json_real_value (json_object_get (root, "r")), ==, 0.1);
        CHECK_TRUE (json_is_true (json_object_get (root, "t")));
        CHECK_TRUE (json_is_false (json_object_get (root, "f")));
        CHECK_DBL (json_real_value (json_object_get (root, "ms")), ==, 1.500001);
        CHECK_U64 (json_object_size (json_object_get (root, "empty")), ==, 0);
        CHECK_U64 (json_array_size (json_object_get (root, "a")), ==, 3);
        CHECK_TRUE (
            json_is_null (json_object_get (json_array_get (json_object_get (root, "a"), 2), "x")));
        json_decref (root);
        free (o.text);
    }
}

static void every_byte_is_escaped_into_valid_text (void **state)
{
    (void)state;
    char bytes[256];
    for (int i = 1; i < 256; i++)
        bytes[i - 1] = (char)i;
    bytes[255] = '\0';
    struct output o;
    begin (&o, 0);
    ti_json_object (&o.json, NULL);
    ti_json_string (&o.json, bytes, bytes);
    ti_json_end (&o.json);
    json_t *root = parse (&o);
    const char *value = json_string_value (json_object_iter_value (json_object_iter (root)));
    CHECK_MEM (value, bytes, 0x7f);
    CHECK_TRUE (strchr (o.text, '<') == NULL);
    CHECK_TRUE (strchr (o.text, '>') == NULL);
    CHECK_TRUE (strchr (o.text, '&') == NULL);
    json_decref (root);
    free (o.text);
}

static void utf8_is_kept_and_what_is_not_utf8_becomes_one_replacement (void **state)
{
    (void)state;
    const struct {
        const char *bytes, *read;
    } cases[] = {
        {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\xa2", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\xa2"},
        {"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},
        {"a\xc3", "a\xef\xbf\xbd"},               /* cut */
        {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"}, /* longer than needed */
        {"\xe0\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* surrogate */
        {"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\x80x", "\xef\xbf\xbdx"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct output o;
        begin (&o, 0);
        ti_json_string (&o.json, NULL, cases[i].bytes);
        json_t *root = parse (&o);
        CHECK_STR (json_string_value (root), cases[i].read);
        json_decref (root);
        free (o.text);
    }
}

static void BE_03_numbers_that_are_not_finite_become_null (void **state)
{
    (void)state;
    struct output o;
    begin (&o, 0);
    ti_json_array (&o.json, NULL);
    ti_json_real (&o.json, NULL, (double)NAN);
    ti_json_real (&o.json, NULL, (double)INFINITY);
    ti_json_real (&o.json, NULL, -(double)INFINITY);
    ti_json_end (&o.json);
    json_t *root = parse (&o);
    CHECK_STR (o.text, "[null,null,null]\n");
    json_decref (root);
    free (o.text);
}

static void reals_read_back_as_the_same_double (void **state)
{
    (void)state;
    uint64_t random = 1;
    const double fixed[] = {0, 1, -1, 420, 0.1, 1e15, 1e300, 5e-324, 123456789012345678.0, 1.0 / 3};
    /* A host may have set another decimal point; where there is no such locale, C stays. */
    setlocale (LC_ALL, "de_DE.UTF-8");
    for (int i = 0; i < 3000; i++) {
        double value = 0;
        random += UINT64_C (0x9e3779b97f4a7c15);
        uint64_t bits = ti_mix (random);
        memcpy (&value, &bits, sizeof value);
        if (i < 10)
            value = fixed[i];
        if (!isfinite (value))
            continue;
        struct output o;
        begin (&o, 0);
        ti_json_real (&o.json, NULL, value);
        json_t *root = parse (&o);
        CHECK_DBL (json_number_value (root), ==, value);
        json_decref (root);
        free (o.text);
    }
    setlocale (LC_ALL, "C");
}

static void nanoseconds_become_exact_milliseconds (void **state)
{
    (void)state;
    const struct {
        uint64_t ns;
        const char *text;
    } cases[] = {
        {0, "0\n"},         {1, "0.000001\n"},      {MS (5), "5\n"},
        {1500000, "1.5\n"}, {1000010, "1.00001\n"}, {UINT64_MAX, "18446744073709.551615\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct output o;
        begin (&o, 0);
        ti_json_ms (&o.json, NULL, cases[i].ns);
        json_decref (parse (&o));
        CHECK_STR (o.text, cases[i].text);
        free (o.text);
    }
}

static void indented_text_keeps_inline_arrays_on_one_line (void **state)
{
    (void)state;
    struct output o;
    begin (&o, 2);
    ti_json_object (&o.json, NULL);
    ti_json_u64 (&o.json, "a", 1);
    ti_json_inline_array (&o.json, "b");
    ti_json_array (&o.json, NULL);
    ti_json_u64 (&o.json, NULL, 1);
    ti_json_u64 (&o.json, NULL, 2);
    ti_json_end (&o.json);
    ti_json_u64 (&o.json, NULL, 3);
    ti_json_end (&o.json);
    ti_json_end (&o.json);
    json_decref (parse (&o));
    CHECK_STR (o.text, "{\n  \"a\": 1,\n  \"b\": [[1, 2], 3]\n}\n");
    free (o.text);
}

static void a_write_that_fails_is_reported (void **state)
{
    (void)state;
    struct ti_json json;
    FILE *file = fopen ("/dev/full", "w");
    CHECK_TRUE (file != NULL);
    ti_json_init (&json, file, 0);
    ti_json_u64 (&json, NULL, 1);
    CHECK_I64 (ti_json_finish (&json), ==, TIED_ERR_SYSTEM);
    fclose (file);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (values_of_every_type_read_back),
        cmocka_unit_test (every_byte_is_escaped_into_valid_text),
        cmocka_unit_test (utf8_is_kept_and_what_is_not_utf8_becomes_one_replacement),
        cmocka_unit_test (BE_03_numbers_that_are_not_finite_become_null),
        cmocka_unit_test (reals_read_back_as_the_same_double),
        cmocka_unit_test (nanoseconds_become_exact_milliseconds),
        cmocka_unit_test (indented_text_keeps_inline_arrays_on_one_line),
        cmocka_unit_test (a_write_that_fails_is_reported),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
