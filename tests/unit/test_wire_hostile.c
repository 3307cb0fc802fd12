/* SPDX-License-Identifier: MIT */
/*
 * The decoder against bytes that are not what the protocol allows. Every input is copied into a
 * block of exactly its size, so that the address sanitizer sees a read past its end.
 */
#include "check.h"
#include "messages.h"

#include <malloc.h>

#include <tied/wire.h>

static struct sample_storage storage;
static uint8_t buffer[SAMPLE_BODY_MAX + TIED_WIRE_HEADER_MAX];
static uint8_t big[1 << 20];

/* Decode a copy at its exact size; @return the fault, and check that it fits the error. */
static int fault_of (const void *data, size_t size)
{
    uint8_t *exact = malloc (size ? size : 1);
    CHECK_PTR (exact, !=, NULL);
    if (size)
        memcpy (exact, data, size);
    struct tied_message out;
    int fault = -1;
    int rc = tied_wire_decode (size ? exact : exact + 1, size, &out, &fault);
    if (rc == 0)
        CHECK_I64 (fault, ==, TIED_WIRE_FAULT_NONE);
    else {
        CHECK_I64 (fault, >, TIED_WIRE_FAULT_NONE);
        CHECK_I64 (fault, <, TIED_WIRE_FAULT_COUNT);
        CHECK_I64 (rc, ==,
                   fault == TIED_WIRE_FAULT_VERSION ? TIED_ERR_VERSION : TIED_ERR_MALFORMED);
    }
    free (exact);
    return fault;
}

#define FAULT_OF(literal) fault_of ((literal), sizeof (literal) - 1)

/* Header bytes up to 1 KiB or so, to keep the tests that try every position quick. */
static size_t encode_small (uint8_t type, uint64_t *seed)
{
    struct tied_message message;
    do
        message = sample_message (type, seed, &storage);
    while (tied_wire_bound (&message) > 700);
    int size = tied_wire_encode (&message, buffer, sizeof buffer);
    CHECK_I64 (size, >, 0);
    return (size_t)size;
}

static void ZQ_15_every_truncation_of_every_message_is_refused_as_truncated (void **state)
{
    (void)state;
    uint64_t seed = 11;
    uint64_t rounds = check_scale (100);
    for (uint64_t i = 0; i < rounds; i++)
        for (uint8_t type = TIED_WIRE_HELLO; type <= TIED_WIRE_DENY; type++) {
            size_t size = encode_small (type, &seed);
            CHECK_I64 (fault_of (buffer, size), ==, TIED_WIRE_FAULT_NONE);
            for (size_t cut = 0; cut < size; cut++)
                CHECK_I64 (fault_of (buffer, cut), ==, TIED_WIRE_FAULT_TRUNCATED);
        }
}

static void MP_04_trailing_bytes_are_refused (void **state)
{
    (void)state;
    uint64_t seed = 12;
    for (uint8_t type = TIED_WIRE_HELLO; type <= TIED_WIRE_DENY; type++) {
        size_t size = encode_small (type, &seed);
        for (unsigned byte = 0; byte < 256; byte++) {
            buffer[size] = (uint8_t)byte;
            CHECK_I64 (fault_of (buffer, size + 1), ==, TIED_WIRE_FAULT_TRAILING);
        }
    }
}

/* Each of the four heads with each of the two counts: alone, as the body and as an unknown element.
 */
static void MP_01_hostile_counts_are_refused_without_an_allocation (void **state)
{
    (void)state;
    static const uint8_t heads[] = {0xdd, 0xdf, 0xdb, 0xc6};
    static const uint8_t counts[][4] = {{0xff, 0xff, 0xff, 0xff}, {0x10, 0, 0, 0}};
    size_t in_use = mallinfo2 ().uordblks;
    for (size_t h = 0; h < sizeof heads; h++)
        for (size_t c = 0; c < 2; c++) {
            uint8_t alone[5] = {heads[h]};
            memcpy (alone + 1, counts[c], 4);
            int fault = fault_of (alone, sizeof alone);
            CHECK_I64 (fault, ==,
                       heads[h] == 0xdd ? TIED_WIRE_FAULT_TRUNCATED : TIED_WIRE_FAULT_NOT_ARRAY);

            uint8_t unknown[] = {0x94, 1, 9, 5, heads[h], 0, 0, 0, 0, 0, 0};
            memcpy (unknown + 5, counts[c], 4);
            CHECK_I64 (fault_of (unknown, sizeof unknown), ==, TIED_WIRE_FAULT_TRUNCATED);

            uint8_t reply[] = {0x9d, 1, 4, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, heads[h], 0, 0, 0, 0, 0};
            memcpy (reply + 14, counts[c], 4);
            fault = fault_of (reply, sizeof reply);
            CHECK_I64 (fault, ==,
                       heads[h] == 0xc6 ? TIED_WIRE_FAULT_TRUNCATED : TIED_WIRE_FAULT_FIELD_TYPE);

            uint8_t hello[] = {0x96, 1, 1, 0, heads[h], 0, 0, 0, 0, 'a', 1, 1};
            memcpy (hello + 5, counts[c], 4);
            fault = fault_of (hello, sizeof hello);
            CHECK_I64 (fault, ==,
                       heads[h] == 0xdb ? TIED_WIRE_FAULT_TRUNCATED : TIED_WIRE_FAULT_FIELD_TYPE);
        }
    CHECK_U64 (mallinfo2 ().uordblks, ==, in_use);
}

/* PING with one unknown element that nests so many levels, of arrays or of maps. */
static int fault_of_depth (size_t depth, bool is_map)
{
    memcpy (big, "\x94\x01\x09\x05", 4);
    size_t at = 4;
    for (size_t i = 0; i < depth; i++) {
        big[at++] = is_map ? 0x81 : 0x91;
        if (is_map)
            big[at++] = 0x01;
    }
    big[at++] = 0xc0;
    return fault_of (big, at);
}

static void MP_02_unknown_elements_may_nest_four_deep_and_no_deeper (void **state)
{
    (void)state;
    for (int is_map = 0; is_map < 2; is_map++) {
        for (size_t depth = 0; depth <= 4; depth++)
            CHECK_I64 (fault_of_depth (depth, is_map), ==, TIED_WIRE_FAULT_NONE);
        CHECK_I64 (fault_of_depth (5, is_map), ==, TIED_WIRE_FAULT_TOO_DEEP);
        CHECK_I64 (fault_of_depth (10000, is_map), ==, TIED_WIRE_FAULT_TOO_DEEP);
    }
}

/* Every kind of msgpack object, whole ones: a later revision may add any of them. */
static void unknown_trailing_elements_are_skipped (void **state)
{
    (void)state;
    CHECK_I64 (FAULT_OF ("\x95\x01\x09\x05\xc0\xc2"), ==, TIED_WIRE_FAULT_NONE);
    CHECK_I64 (FAULT_OF ("\x95\x01\x09\x05\xc3\xff"), ==, TIED_WIRE_FAULT_NONE);
    CHECK_I64 (FAULT_OF ("\x94\x01\x09\x05\xca\1\2\3\4"), ==, TIED_WIRE_FAULT_NONE);
    CHECK_I64 (FAULT_OF ("\x94\x01\x09\x05\xcb\1\2\3\4\5\6\7\x8"), ==, TIED_WIRE_FAULT_NONE);
    CHECK_I64 (FAULT_OF ("\x95\x01\x09\x05\xd0\xff\xd1\xff\xff"), ==, TIED_WIRE_FAULT_NONE);
    CHECK_I64 (FAULT_OF ("\x94\x01\x09\x05\xd2\1\2\3\4"), ==, TIED_WIRE_FAULT_NONE);
    CHECK_I64 (FAULT_OF ("\x94\x01\x09\x05\xd3\1\2\3\4\5\6\7\x8"), ==, TIED_WIRE_FAULT_NONE);
    CHECK_I64 (FAULT_OF ("\x96\x01\x09\x05\xa1z\xd9\1z\xda\0\1z"), ==, TIED_WIRE_FAULT_NONE);
    CHECK_I64 (FAULT_OF ("\x95\x01\x09\x05\xdb\0\0\0\1z\xc4\1z"), ==, TIED_WIRE_FAULT_NONE);
    CHECK_I64 (FAULT_OF ("\x95\x01\x09\x05\xc5\0\1z\xc6\0\0\0\1z"), ==, TIED_WIRE_FAULT_NONE);
    CHECK_I64 (FAULT_OF ("\x95\x01\x09\x05\xd4\1z\xd5\1zz"), ==, TIED_WIRE_FAULT_NONE);
    CHECK_I64 (FAULT_OF ("\x94\x01\x09\x05\xd6\1zzzz"), ==, TIED_WIRE_FAULT_NONE);
    CHECK_I64 (FAULT_OF ("\x94\x01\x09\x05\xd7\1zzzzzzzz"), ==, TIED_WIRE_FAULT_NONE);
    CHECK_I64 (FAULT_OF ("\x94\x01\x09\x05\xd8\1zzzzzzzzzzzzzzzz"), ==, TIED_WIRE_FAULT_NONE);
    CHECK_I64 (FAULT_OF ("\x96\x01\x09\x05\xc7\1\1z\xc8\0\1\1z\xc9\0\0\0\1\1z"), ==, 0);
    CHECK_I64 (FAULT_OF ("\x95\x01\x09\x05\x92\1\xc0\x82\1\2\3\x90"), ==, TIED_WIRE_FAULT_NONE);
    CHECK_I64 (FAULT_OF ("\x95\x01\x09\x05\xdc\0\1\1\xdd\0\0\0\1\1"), ==, TIED_WIRE_FAULT_NONE);
    CHECK_I64 (FAULT_OF ("\x95\x01\x09\x05\xde\0\1\1\1\xdf\0\0\0\1\1\1"), ==, 0);
    /* 0xc1 is no msgpack at all. */
    CHECK_I64 (FAULT_OF ("\x94\x01\x09\x05\xc1"), ==, TIED_WIRE_FAULT_FIELD_TYPE);
    CHECK_I64 (FAULT_OF ("\x94\x01\x09\x05\x91\xc1"), ==, TIED_WIRE_FAULT_FIELD_TYPE);
}

/* The same for every known message: one more element, then one byte less than it has. */
static void every_message_may_have_further_elements (void **state)
{
    (void)state;
    uint64_t seed = 13;
    for (uint8_t type = TIED_WIRE_HELLO; type <= TIED_WIRE_DENY; type++) {
        size_t size = encode_small (type, &seed);
        size_t head = buffer[0] == 0xdc ? 3 : 1;
        unsigned count = head == 3 ? buffer[2] : buffer[0] & 0x0fu;
        big[0] = 0xdc;
        big[1] = 0;
        big[2] = (uint8_t)(count + 2);
        memcpy (big + 3, buffer + head, size - head);
        size_t at = 3 + size - head;
        memcpy (big + at, "\x81\xa1k\x92\x01\x02\xcb\0\0\0\0\0\0\0\0", 15);
        CHECK_I64 (fault_of (big, at + 15), ==, TIED_WIRE_FAULT_NONE);
        for (size_t cut = 1; cut <= 15; cut++)
            CHECK_I64 (fault_of (big, at + 15 - cut), ==, TIED_WIRE_FAULT_TRUNCATED);
    }
}

static void what_is_no_array_or_too_short_is_refused (void **state)
{
    (void)state;
    for (unsigned first = 0; first < 256; first++) {
        uint8_t bytes[] = {(uint8_t)first, 0, 0, 0, 0, 0, 0, 0, 0};
        if ((first & 0xf0) != 0x90 && first != 0xdc && first != 0xdd)
            CHECK_I64 (fault_of (bytes, sizeof bytes), ==, TIED_WIRE_FAULT_NOT_ARRAY);
    }
    CHECK_I64 (FAULT_OF (""), ==, TIED_WIRE_FAULT_TRUNCATED);
    CHECK_I64 (FAULT_OF ("\x90"), ==, TIED_WIRE_FAULT_NOT_ARRAY);
    CHECK_I64 (FAULT_OF ("\x91\x01"), ==, TIED_WIRE_FAULT_NOT_ARRAY);
    CHECK_I64 (FAULT_OF ("\x92\x01\x09"), ==, TIED_WIRE_FAULT_NOT_ARRAY);
    CHECK_I64 (FAULT_OF ("\x95\x01\x0a\x05\x00\x00"), ==, TIED_WIRE_FAULT_NOT_ARRAY);
}

static void another_version_is_told_apart_whatever_follows (void **state)
{
    (void)state;
    CHECK_I64 (FAULT_OF ("\x93\x02\x09\x05"), ==, TIED_WIRE_FAULT_VERSION);
    CHECK_I64 (FAULT_OF ("\x93\x00\x09\x05"), ==, TIED_WIRE_FAULT_VERSION);
    CHECK_I64 (FAULT_OF ("\x92\xcd\x01\x01\xc1\xc1"), ==, TIED_WIRE_FAULT_VERSION);
    CHECK_I64 (FAULT_OF ("\x93\xa1\x31\x09\x05"), ==, TIED_WIRE_FAULT_FIELD_TYPE);
    CHECK_I64 (FAULT_OF ("\x93\xff\x09\x05"), ==, TIED_WIRE_FAULT_FIELD_TYPE);
}

static void unknown_types_are_told_apart (void **state)
{
    (void)state;
    CHECK_I64 (FAULT_OF ("\x93\x01\x00\x05"), ==, TIED_WIRE_FAULT_UNKNOWN_TYPE);
    CHECK_I64 (FAULT_OF ("\x93\x01\x0f\x05"), ==, TIED_WIRE_FAULT_UNKNOWN_TYPE);
    CHECK_I64 (FAULT_OF ("\x93\x01\xcd\x01\x09\x05"), ==, TIED_WIRE_FAULT_UNKNOWN_TYPE);
    CHECK_I64 (FAULT_OF ("\x93\x01\xc0\x05"), ==, TIED_WIRE_FAULT_FIELD_TYPE);
}

/* PING's time as anything but an unsigned integer, and REPLY's body as anything but bin or nil. */
static void elements_of_another_type_are_refused (void **state)
{
    (void)state;
    static const struct {
        size_t size;
        char bytes[12];
    } wrong[] = {
        {1, "\xc0"},     /* nil */
        {1, "\xc2"},     /* false */
        {1, "\xc3"},     /* true */
        {1, "\xff"},     /* -1 */
        {2, "\xd0\x05"}, /* a signed form, whatever its value */
        {3, "\xd1\xff\xff"},
        {5, "\xd2\x00\x00\x00\x05"},
        {9, "\xd3\x00\x00\x00\x00\x00\x00\x00\x05"},
        {5, "\xca\x3f\x80\x00\x00"}, /* floats */
        {9, "\xcb\x3f\xf0\x00\x00\x00\x00\x00\x00"},
        {2, "\xa1\x35"},     /* str */
        {2, "\x91\x05"},     /* array */
        {3, "\x81\x05\x05"}, /* map */
        {3, "\xd4\x05\x05"}, /* ext */
        {1, "\xc1"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        memcpy (buffer, "\x93\x01\x09", 3);
        memcpy (buffer + 3, wrong[i].bytes, wrong[i].size);
        CHECK_I64 (fault_of (buffer, 3 + wrong[i].size), ==, TIED_WIRE_FAULT_FIELD_TYPE);
        if (i == 0)
            continue; /* a nil body is allowed */
        memcpy (buffer, "\x9d\x01\x04\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00", 13);
        memcpy (buffer + 13, wrong[i].bytes, wrong[i].size);
        CHECK_I64 (fault_of (buffer, 13 + wrong[i].size), ==, TIED_WIRE_FAULT_FIELD_TYPE);
    }
    /* A str is no bin and a bin is no str. */
    CHECK_I64 (FAULT_OF ("\x96\x01\x01\x00\xc4\x01z\x01\x01"), ==, TIED_WIRE_FAULT_FIELD_TYPE);
}

/* The widths of the numbers of each message, in the order of its elements after version and type;
   '-' stands for what is no number. */
static const char *const widths[] = {
    [TIED_WIRE_HELLO] = "1-88",
    [TIED_WIRE_WELCOME] = "-8844444444",
    [TIED_WIRE_REQUEST] = "881-8848-8-1--",
    [TIED_WIRE_REPLY] = "8814488444-",
    [TIED_WIRE_REJECT] = "8811444",
    [TIED_WIRE_CANCEL] = "881",
    [TIED_WIRE_STARTED] = "881",
    [TIED_WIRE_UNTIE] = "881",
    [TIED_WIRE_PING] = "8",
    [TIED_WIRE_PONG] = "8444",
    [TIED_WIRE_DONE] = "881",
    [TIED_WIRE_CLAIM] = "88188",
    [TIED_WIRE_GRANT] = "881",
    [TIED_WIRE_DENY] = "881",
};

static size_t put_uint64 (uint8_t *to, uint64_t number)
{
    to[0] = 0xcf;
    for (unsigned i = 0; i < 8; i++)
        to[1 + i] = (uint8_t)(number >> (56 - 8 * i));
    return 9;
}

/* The message with one of its numbers replaced, every number in the longest form. */
static int fault_with_number (const struct elements *list, size_t place, uint64_t number)
{
    size_t at = 3;
    memcpy (buffer, (const uint8_t[]){0xdc, 0, (uint8_t)list->count}, 3);
    for (size_t i = 0; i < list->count; i++) {
        const struct element *e = &list->at[i];
        if (e->kind == ELEMENT_UINT)
            at += put_uint64 (buffer + at, i == place ? number : e->number);
        else if (e->kind == ELEMENT_NIL)
            buffer[at++] = 0xc0;
        else {
            buffer[at++] = e->kind == ELEMENT_STR ? 0xd9 : 0xc4;
            buffer[at++] = (uint8_t)e->bytes.size;
            if (e->bytes.size)
                memcpy (buffer + at, e->bytes.data, e->bytes.size);
            at += e->bytes.size;
        }
    }
    return fault_of (buffer, at);
}

static void every_number_is_held_to_its_width (void **state)
{
    (void)state;
    uint64_t seed = 18;
    for (uint8_t type = TIED_WIRE_HELLO; type <= TIED_WIRE_DENY; type++) {
        struct tied_message message;
        do
            message = sample_message (type, &seed, &storage);
        while (tied_wire_bound (&message) > 350); /* so no body has more than 255 bytes */
        struct elements list = elements_of (&message);
        CHECK_U64 (list.count, ==, 2 + strlen (widths[type]));
        for (size_t place = 2; place < list.count; place++) {
            char width = widths[type][place - 2];
            CHECK_TRUE ((width == '-') == (list.at[place].kind != ELEMENT_UINT));
            if (width == '-')
                continue;
            bool is_role = type == TIED_WIRE_HELLO && place == 2;
            uint64_t most = is_role ? 1 : width == '1' ? UINT8_MAX : UINT32_MAX;
            if (width == '8')
                most = UINT64_MAX;
            CHECK_I64 (fault_with_number (&list, place, most), ==, TIED_WIRE_FAULT_NONE);
            if (width != '8') {
                int fault = fault_with_number (&list, place, most + 1);
                CHECK_I64 (fault, ==, TIED_WIRE_FAULT_FIELD_RANGE);
                fault = fault_with_number (&list, place, UINT64_MAX);
                CHECK_I64 (fault, ==, TIED_WIRE_FAULT_FIELD_RANGE);
            }
        }
    }
}

static void numbers_out_of_range_are_refused (void **state)
{
    (void)state;
    /* HELLO: role 2, incarnation 0 */
    CHECK_I64 (FAULT_OF ("\x96\x01\x01\x02\xa1z\x01\x01"), ==, TIED_WIRE_FAULT_FIELD_RANGE);
    CHECK_I64 (FAULT_OF ("\x96\x01\x01\x00\xa1z\x00\x01"), ==, TIED_WIRE_FAULT_FIELD_RANGE);
    CHECK_I64 (FAULT_OF ("\x96\x01\x01\x00\xa1z\xce\0\0\0\0\x01"), ==, 7);
    /* STARTED: copy 256; CANCEL: reason 0 */
    CHECK_I64 (FAULT_OF ("\x95\x01\x07\x01\x01\xcd\x01\x00"), ==, TIED_WIRE_FAULT_FIELD_RANGE);
    CHECK_I64 (FAULT_OF ("\x95\x01\x06\x01\x01\x00"), ==, TIED_WIRE_FAULT_FIELD_RANGE);
    /* STARTED, CANCEL: epoch 0 */
    CHECK_I64 (FAULT_OF ("\x95\x01\x07\x00\x01\x00"), ==, TIED_WIRE_FAULT_FIELD_RANGE);
    CHECK_I64 (FAULT_OF ("\x95\x01\x06\x00\x01\x01"), ==, TIED_WIRE_FAULT_FIELD_RANGE);
    /* PONG: depth 2^32 */
    CHECK_I64 (FAULT_OF ("\x96\x01\x0a\x05\xcf\0\0\0\1\0\0\0\0\0\0"), ==, 7);
    /* CLAIM: incarnation 0 */
    CHECK_I64 (FAULT_OF ("\x97\x01\x0c\x01\x01\x01\x05\x01"), ==, TIED_WIRE_FAULT_NONE);
    CHECK_I64 (FAULT_OF ("\x97\x01\x0c\x01\x01\x01\x05\x00"), ==, TIED_WIRE_FAULT_FIELD_RANGE);
    /* REJECT: reason 0 */
    CHECK_I64 (FAULT_OF ("\x99\x01\x05\x01\x01\x00\x00\0\0\0"), ==, TIED_WIRE_FAULT_FIELD_RANGE);
}

/* HELLO whose id has this one byte, at every place of names of 1 to 20 bytes. */
static void ZQ_16_names_with_control_bytes_spaces_or_NUL_are_refused (void **state)
{
    (void)state;
    for (size_t size = 1; size <= 20; size++)
        for (size_t place = 0; place < size; place++)
            for (unsigned byte = 0; byte < 256; byte++) {
                memcpy (buffer, "\x96\x01\x01\x00", 4);
                buffer[4] = (uint8_t)(0xa0 | size);
                memset (buffer + 5, 'z', size);
                buffer[5 + place] = (uint8_t)byte;
                memcpy (buffer + 5 + size, "\x01\x01", 2);
                bool is_good = byte > 0x20 && byte != 0x7f;
                CHECK_I64 (fault_of (buffer, 7 + size), ==,
                           is_good ? TIED_WIRE_FAULT_NONE : TIED_WIRE_FAULT_FIELD_RANGE);
            }
}

static void names_have_1_to_64_bytes (void **state)
{
    (void)state;
    CHECK_I64 (FAULT_OF ("\x96\x01\x01\x00\xa0\x01\x01"), ==, TIED_WIRE_FAULT_FIELD_RANGE);
    for (size_t size = 60; size <= 70; size++) {
        memcpy (buffer, "\x96\x01\x01\x00\xd9", 5);
        buffer[5] = (uint8_t)size;
        memset (buffer + 6, 'z', size);
        memcpy (buffer + 6 + size, "\x01\x01", 2);
        CHECK_I64 (fault_of (buffer, 8 + size), ==,
                   size <= 64 ? TIED_WIRE_FAULT_NONE : TIED_WIRE_FAULT_FIELD_RANGE);
    }
}

/* A view may end where the frame ends: nothing after it is read or needed. */
static void MP_06_views_lie_inside_the_frame (void **state)
{
    (void)state;
    uint64_t seed = 14;
    for (unsigned i = 0; i < 200; i++) {
        size_t size = encode_small (TIED_WIRE_REQUEST, &seed);
        uint8_t *exact = malloc (size);
        CHECK_PTR (exact, !=, NULL);
        memcpy (exact, buffer, size);
        struct tied_message m;
        CHECK_I64 (tied_wire_decode (exact, size, &m, NULL), ==, 0);
        const struct tied_view views[] = {m.u.request.method, m.u.request.sibling, m.u.request.key,
                                          m.u.request.traceparent, m.u.request.body};
        for (size_t v = 0; v < sizeof views / sizeof *views; v++) {
            if (views[v].size == 0)
                continue;
            const uint8_t *start = views[v].data;
            CHECK_TRUE (start >= exact && start + views[v].size <= exact + size);
        }
        free (exact);
    }
}

/* Every byte of every message replaced by every value: an answer, and no read past the end. What is
   still accepted must survive encoding. */
static void MP_03_single_byte_mutations_are_refused_or_are_other_messages (void **state)
{
    (void)state;
    uint64_t seed = 15;
    uint64_t rounds = check_scale (4);
    for (uint64_t i = 0; i < rounds; i++)
        for (uint8_t type = TIED_WIRE_HELLO; type <= TIED_WIRE_DENY; type++) {
            size_t size = encode_small (type, &seed);
            uint8_t *exact = malloc (size);
            CHECK_PTR (exact, !=, NULL);
            memcpy (exact, buffer, size);
            for (size_t place = 0; place < size; place++) {
                for (unsigned byte = 0; byte < 256; byte++) {
                    exact[place] = (uint8_t)byte;
                    struct tied_message m;
                    struct tied_message back;
                    if (tied_wire_decode (exact, size, &m, NULL) != 0)
                        continue;
                    int length = tied_wire_encode (&m, big, sizeof big);
                    CHECK_I64 (length, >, 0);
                    CHECK_I64 (tied_wire_decode (big, (size_t)length, &back, NULL), ==, 0);
                    CHECK_TRUE (message_equal (&m, &back));
                }
                exact[place] = buffer[place];
            }
            free (exact);
        }
}

static void random_bytes_are_refused_or_are_messages (void **state)
{
    (void)state;
    uint64_t seed = 16;
    uint64_t rounds = check_scale (200000);
    for (uint64_t i = 0; i < rounds; i++) {
        size_t size = (size_t)(sample_next (&seed) % 64);
        for (size_t k = 0; k < size; k++)
            buffer[k] = (uint8_t)sample_next (&seed);
        if (size > 3 && i % 2) { /* get past the start every other time */
            memcpy (buffer, "\x9f\x01", 2);
            buffer[2] = (uint8_t)(1 + sample_next (&seed) % 10);
        }
        (void)fault_of (buffer, size);
    }
}

/* A megabyte of the cheapest elements costs one pass: the test's time limit is the bound. */
static void MP_03_large_frames_of_tiny_elements_end_in_one_pass (void **state)
{
    (void)state;
    static const uint8_t fill[] = {0x90, 0x80, 0x91, 0x81, 0xc0, 0x01, 0xa0, 0xdc, 0xc4};
    for (size_t i = 0; i < sizeof fill; i++) {
        memset (big, fill[i], sizeof big);
        uint32_t count = (uint32_t)(sizeof big - 5);
        uint8_t head[] = {0xdd, 0, 0, 0, 0, 0x01, 0x09, 0x05};
        for (unsigned k = 0; k < 4; k++)
            head[1 + k] = (uint8_t)(count >> (24 - 8 * k));
        memcpy (big, head, sizeof head);
        int fault = fault_of (big, sizeof big);
        bool is_whole = fill[i] == 0x90 || fill[i] == 0x80 || fill[i] == 0xc0 || fill[i] == 0x01 ||
                        fill[i] == 0xa0;
        CHECK_TRUE ((fault == TIED_WIRE_FAULT_NONE) == is_whole);
    }
}

static void MP_05_a_million_good_and_bad_messages_allocate_nothing (void **state)
{
    (void)state;
    uint64_t seed = 17;
    size_t size = encode_small (TIED_WIRE_REQUEST, &seed);
    uint64_t rounds = check_scale (1000000);
    size_t in_use = mallinfo2 ().uordblks;
    struct tied_message m;
    for (uint64_t i = 0; i < rounds; i++) {
        CHECK_I64 (tied_wire_decode (buffer, size, &m, NULL), ==, 0);
        CHECK_I64 (tied_wire_decode (buffer, i % size, &m, NULL), ==, TIED_ERR_MALFORMED);
    }
    CHECK_U64 (mallinfo2 ().uordblks, ==, in_use);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (ZQ_15_every_truncation_of_every_message_is_refused_as_truncated),
        cmocka_unit_test (MP_04_trailing_bytes_are_refused),
        cmocka_unit_test (MP_01_hostile_counts_are_refused_without_an_allocation),
        cmocka_unit_test (MP_02_unknown_elements_may_nest_four_deep_and_no_deeper),
        cmocka_unit_test (unknown_trailing_elements_are_skipped),
        cmocka_unit_test (every_message_may_have_further_elements),
        cmocka_unit_test (what_is_no_array_or_too_short_is_refused),
        cmocka_unit_test (another_version_is_told_apart_whatever_follows),
        cmocka_unit_test (unknown_types_are_told_apart),
        cmocka_unit_test (elements_of_another_type_are_refused),
        cmocka_unit_test (every_number_is_held_to_its_width),
        cmocka_unit_test (numbers_out_of_range_are_refused),
        cmocka_unit_test (ZQ_16_names_with_control_bytes_spaces_or_NUL_are_refused),
        cmocka_unit_test (names_have_1_to_64_bytes),
        cmocka_unit_test (MP_06_views_lie_inside_the_frame),
        cmocka_unit_test (MP_03_single_byte_mutations_are_refused_or_are_other_messages),
        cmocka_unit_test (random_bytes_are_refused_or_are_messages),
        cmocka_unit_test (MP_03_large_frames_of_tiny_elements_end_in_one_pass),
        cmocka_unit_test (MP_05_a_million_good_and_bad_messages_allocate_nothing),
    };
    return cmocka_run_group_tests_name ("wire_hostile", tests, NULL, NULL);
}
