/* SPDX-License-Identifier: MIT */
/* The header codec with itself: identity, exact bytes, limits of every field, exact capacity. */
#include "check.h"
#include "messages.h"

#include <stdio.h>

static struct sample_storage storage;
static uint8_t buffer[SAMPLE_BODY_MAX + TIED_WIRE_HEADER_MAX];

static size_t encode (const struct tied_message *message)
{
    int size = tied_wire_encode (message, buffer, sizeof buffer);
    CHECK_I64 (size, >, 0);
    CHECK_U64 (size, <=, tied_wire_bound (message));
    return (size_t)size;
}

static struct tied_message decode (const void *data, size_t size)
{
    struct tied_message message;
    int fault = -1;
    CHECK_I64 (tied_wire_decode (data, size, &message, &fault), ==, 0);
    CHECK_I64 (fault, ==, TIED_WIRE_FAULT_NONE);
    return message;
}

static void check_identity (const struct tied_message *message)
{
    struct tied_message back = decode (buffer, encode (message));
    CHECK_TRUE (message_equal (message, &back));
}

static struct tied_message small_request (void)
{
    struct tied_message m = {.type = TIED_WIRE_REQUEST};
    m.u.request.call = (struct tied_call_id){0x0123456789abcdef, 7};
    m.u.request.method = (struct tied_view){"work", 4};
    m.u.request.body = (struct tied_view){"abc", 3};
    return m;
}

static void every_message_survives_encode_and_decode (void **state)
{
    (void)state;
    uint64_t seed = 1;
    uint64_t rounds = check_scale (20000);
    for (uint64_t i = 0; i < rounds; i++)
        for (uint8_t type = TIED_WIRE_HELLO; type <= TIED_WIRE_DENY; type++) {
            struct tied_message message = sample_message (type, &seed, &storage);
            check_identity (&message);
        }
}

static void integers_take_their_shortest_form (void **state)
{
    (void)state;
    static const struct {
        uint64_t value;
        size_t size;
        uint8_t bytes[9];
    } forms[] = {
        {0, 1, {0x00}},
        {0x7f, 1, {0x7f}},
        {0x80, 2, {0xcc, 0x80}},
        {0xff, 2, {0xcc, 0xff}},
        {0x100, 3, {0xcd, 0x01, 0x00}},
        {0xffff, 3, {0xcd, 0xff, 0xff}},
        {0x10000, 5, {0xce, 0x00, 0x01, 0x00, 0x00}},
        {0xffffffff, 5, {0xce, 0xff, 0xff, 0xff, 0xff}},
        {UINT64_C (0x100000000), 9, {0xcf, 0, 0, 0, 1, 0, 0, 0, 0}},
        {UINT64_C (0x0102030405060708), 9, {0xcf, 1, 2, 3, 4, 5, 6, 7, 8}},
        {UINT64_MAX, 9, {0xcf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct tied_message ping = {.type = TIED_WIRE_PING};
        ping.u.ping.time_ns = forms[i].value;
        CHECK_U64 (encode (&ping), ==, 3 + forms[i].size);
        CHECK_MEM (buffer, "\x93\x01\x09", 3);
        CHECK_MEM (buffer + 3, forms[i].bytes, forms[i].size);
        check_identity (&ping);
    }
}

/* The bodies at the edges of bin 8, 16 and 32. */
static void bodies_of_every_length_form_survive (void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 255, 256, 65535, 65536};
    memset (storage.body, 0x5a, sizeof storage.body);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct tied_message message = small_request ();
        message.u.request.body = (struct tied_view){storage.body, sizes[i]};
        check_identity (&message);
    }
}

static void MP_07_empty_inline_body_is_an_empty_bin_and_nil_means_the_next_frame (void **state)
{
    (void)state;
    struct tied_message message = small_request ();
    message.u.request.body = (struct tied_view){NULL, 0};
    size_t size = encode (&message);
    CHECK_MEM (buffer + size - 2, "\xc4\x00", 2);
    struct tied_message back = decode (buffer, size);
    CHECK_FALSE (back.u.request.body_follows);
    CHECK_U64 (back.u.request.body.size, ==, 0);

    message.u.request.body_follows = true;
    message.u.request.body = (struct tied_view){"ignored", 7};
    size = encode (&message);
    CHECK_U64 (buffer[size - 1], ==, 0xc0);
    back = decode (buffer, size);
    CHECK_TRUE (back.u.request.body_follows);
    CHECK_U64 (back.u.request.body.size, ==, 0);
}

static void absent_options_are_nil (void **state)
{
    (void)state;
    struct tied_message message = small_request ();
    size_t size = encode (&message);
    struct tied_message back = decode (buffer, size);
    CHECK_U64 (back.u.request.sibling.size, ==, 0);
    CHECK_U64 (back.u.request.key.size, ==, 0);
    CHECK_U64 (back.u.request.traceparent.size, ==, 0);
    /* ... incarnation, sibling, its incarnation, key, attempts, traceparent, body */
    CHECK_MEM (buffer + size - 11, "\x00\xc0\x00\xc0\x00\xc0\xc4\x03\x61\x62\x63", 11);
}

static struct tied_message longest (uint8_t type)
{
    static uint8_t name[TIED_NAME_MAX];
    memset (name, 'n', sizeof name);
    struct tied_view view = {name, sizeof name};
    struct tied_message m;
    memset (&m, 0xff, sizeof m);
    m.type = type;
    if (type == TIED_WIRE_HELLO) {
        m.u.hello.role = 1;
        m.u.hello.id = view;
    } else if (type == TIED_WIRE_WELCOME)
        m.u.welcome.id = view;
    else if (type == TIED_WIRE_REQUEST) {
        m.u.request.method = m.u.request.sibling = m.u.request.key = view;
        m.u.request.traceparent = view;
        m.u.request.body_follows = true;
    } else if (type == TIED_WIRE_REPLY)
        m.u.reply.body_follows = true;
    return m;
}

static void the_longest_header_fits_the_documented_maximum (void **state)
{
    (void)state;
    for (uint8_t type = TIED_WIRE_HELLO; type <= TIED_WIRE_DENY; type++) {
        struct tied_message message = longest (type);
        CHECK_U64 (tied_wire_bound (&message), <=, TIED_WIRE_HEADER_MAX);
        check_identity (&message);
    }
}

/* Exactly enough is enough, one byte less is not, and nothing is written past the capacity. */
static void encode_keeps_within_its_capacity (void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (uint8_t type = TIED_WIRE_HELLO; type <= TIED_WIRE_DENY; type++) {
        struct tied_message message = sample_message (type, &seed, &storage);
        size_t size = encode (&message);
        size_t step = size > 600 ? size / 600 : 1;
        for (size_t capacity = 0; capacity < size; capacity += step) {
            uint8_t *exact = malloc (capacity + 1);
            CHECK_PTR (exact, !=, NULL);
            exact[capacity] = 0xa5;
            CHECK_I64 (tied_wire_encode (&message, exact, capacity), ==, TIED_ERR_TOOBIG);
            CHECK_U64 (exact[capacity], ==, 0xa5);
            free (exact);
        }
        uint8_t *exact = malloc (size);
        CHECK_PTR (exact, !=, NULL);
        CHECK_I64 (tied_wire_encode (&message, exact, size), ==, size);
        CHECK_MEM (exact, buffer, size);
        free (exact);
    }
}

static void check_not_encoded (const struct tied_message *message)
{
    CHECK_I64 (tied_wire_encode (message, buffer, sizeof buffer), ==, TIED_ERR_INVAL);
}

static void encode_refuses_fields_out_of_range (void **state)
{
    (void)state;
    uint64_t seed = 3;
    struct tied_message m;
    struct tied_view too_long = {storage.body, 65};
    memset (storage.body, 'x', sizeof storage.body);
    struct tied_view bad[] = {{"", 0}, {NULL, 1}, too_long, {"a\0b", 3}, {"a b", 3}, {"a\x7f", 2}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        m = small_request ();
        m.u.request.method = bad[i];
        check_not_encoded (&m);
        m = sample_message (TIED_WIRE_HELLO, &seed, &storage);
        m.u.hello.id = bad[i];
        check_not_encoded (&m);
        m = sample_message (TIED_WIRE_WELCOME, &seed, &storage);
        m.u.welcome.id = bad[i];
        check_not_encoded (&m);
        if (bad[i].size == 0)
            continue; /* none is fine for what is optional */
        m = small_request ();
        m.u.request.sibling = bad[i];
        check_not_encoded (&m);
        m = small_request ();
        m.u.request.traceparent = bad[i];
        check_not_encoded (&m);
    }
    m = small_request ();
    m.u.request.key = too_long;
    check_not_encoded (&m);
    m.u.request.key = (struct tied_view){NULL, 1};
    check_not_encoded (&m);
    m = small_request ();
    m.u.request.body = (struct tied_view){NULL, 1};
    check_not_encoded (&m);
}

static void encode_refuses_numbers_that_mean_nothing (void **state)
{
    (void)state;
    uint64_t seed = 4;
    struct tied_message m = sample_message (TIED_WIRE_HELLO, &seed, &storage);
    m.u.hello.role = 2;
    check_not_encoded (&m);
    m = sample_message (TIED_WIRE_HELLO, &seed, &storage);
    m.u.hello.incarnation = 0;
    check_not_encoded (&m);
    m = sample_message (TIED_WIRE_WELCOME, &seed, &storage);
    m.u.welcome.incarnation = 0;
    check_not_encoded (&m);
    m = sample_message (TIED_WIRE_CLAIM, &seed, &storage);
    m.u.claim.incarnation = 0;
    check_not_encoded (&m);
    m = sample_message (TIED_WIRE_REJECT, &seed, &storage);
    m.u.reject.reason = 0;
    check_not_encoded (&m);
    m = sample_message (TIED_WIRE_CANCEL, &seed, &storage);
    m.u.cancel.reason = 0;
    check_not_encoded (&m);
    m = sample_message (TIED_WIRE_REQUEST, &seed, &storage);
    m.u.request.call.epoch = 0;
    check_not_encoded (&m);
    static const uint8_t strangers[] = {0, 15, 127, 128, 255};
    for (size_t i = 0; i < sizeof strangers; i++) {
        m.type = strangers[i];
        check_not_encoded (&m);
        CHECK_U64 (tied_wire_bound (&m), ==, 0);
    }
}

static void missing_arguments_are_errors (void **state)
{
    (void)state;
    struct tied_message message = small_request ();
    CHECK_I64 (tied_wire_encode (NULL, buffer, sizeof buffer), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_wire_encode (&message, NULL, 10), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_wire_encode (&message, NULL, 0), ==, TIED_ERR_TOOBIG);
    CHECK_U64 (tied_wire_bound (NULL), ==, 0);
    int fault = -1;
    CHECK_I64 (tied_wire_decode (NULL, 0, &message, &fault), ==, TIED_ERR_MALFORMED);
    CHECK_I64 (fault, ==, TIED_WIRE_FAULT_TRUNCATED);
    CHECK_I64 (tied_wire_decode (NULL, 5, &message, &fault), ==, TIED_ERR_MALFORMED);
    size_t size = encode (&message);
    CHECK_I64 (tied_wire_decode (buffer, size, &message, NULL), ==, 0);
    CHECK_I64 (tied_wire_decode (buffer, size, NULL, &fault), ==, 0);
}

/* The bytes of a frame may start anywhere. */
static void messages_at_odd_addresses_are_read_and_written (void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (uint8_t type = TIED_WIRE_HELLO; type <= TIED_WIRE_DENY; type++)
        for (size_t shift = 0; shift < 9; shift++) {
            struct tied_message message = sample_message (type, &seed, &storage);
            size_t bound = tied_wire_bound (&message);
            uint8_t *block = malloc (bound + shift);
            CHECK_PTR (block, !=, NULL);
            int size = tied_wire_encode (&message, block + shift, bound);
            CHECK_I64 (size, >, 0);
            struct tied_message back = decode (block + shift, (size_t)size);
            CHECK_TRUE (message_equal (&message, &back));
            free (block);
        }
}

/* Codes of a later minor revision: the cores see them as they came. */
static void unknown_reasons_and_flags_are_delivered_as_they_are (void **state)
{
    (void)state;
    struct tied_message back = decode ("\x99\x01\x05\x01\x02\x03\xcc\xc8\x00\x00\x00", 11);
    CHECK_U64 (back.u.reject.reason, ==, 200);
    back = decode ("\x95\x01\x06\x01\x02\x63", 6);
    CHECK_U64 (back.u.cancel.reason, ==, 99);
    struct tied_message message = small_request ();
    message.u.request.flags = 0xffffffff;
    check_identity (&message);
}

/* A replica of before the modes park and exclusive must not look as if it knew them. */
static void a_WELCOME_without_modes_is_one_of_single_and_tied (void **state)
{
    (void)state;
    const char *old = "\x9c\x01\x02\xa1z\x01\x02\x03\x04\x05\x06\x07\x08\x09";
    struct tied_message back = decode (old, 14);
    CHECK_U64 (back.u.welcome.load.wait_us, ==, 9);
    CHECK_U64 (back.u.welcome.modes, ==, 3);
    back = decode ("\x9d\x01\x02\xa1z\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0f", 15);
    CHECK_U64 (back.u.welcome.modes, ==, TIED_WIRE_MODES);
    back = decode ("\x9e\x01\x02\xa1z\x01\x02\x03\x04\x05\x06\x07\x08\x09\x07\xc0", 16);
    CHECK_U64 (back.u.welcome.modes, ==, 7);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (every_message_survives_encode_and_decode),
        cmocka_unit_test (integers_take_their_shortest_form),
        cmocka_unit_test (bodies_of_every_length_form_survive),
        cmocka_unit_test (MP_07_empty_inline_body_is_an_empty_bin_and_nil_means_the_next_frame),
        cmocka_unit_test (absent_options_are_nil),
        cmocka_unit_test (the_longest_header_fits_the_documented_maximum),
        cmocka_unit_test (encode_keeps_within_its_capacity),
        cmocka_unit_test (encode_refuses_fields_out_of_range),
        cmocka_unit_test (encode_refuses_numbers_that_mean_nothing),
        cmocka_unit_test (missing_arguments_are_errors),
        cmocka_unit_test (messages_at_odd_addresses_are_read_and_written),
        cmocka_unit_test (unknown_reasons_and_flags_are_delivered_as_they_are),
        cmocka_unit_test (a_WELCOME_without_modes_is_one_of_single_and_tied),
    };
    return cmocka_run_group_tests_name ("wire", tests, NULL, NULL);
}
