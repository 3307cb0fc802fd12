/* SPDX-License-Identifier: MIT */
/* docs/protocol.md against the code: its hex dumps and its numbers are what the codec uses, its
 * counters those of `tied.stats`. */
#include "check.h"

#include <stdio.h>

#include <tied/replica.h>
#include <tied/wire.h>

static char page[1 << 17];

static int load_page (void **state)
{
    (void)state;
    FILE *file = fopen (TIED_SOURCE_DIR "/docs/protocol.md", "rb");
    if (!file)
        return -1;
    size_t size = fread (page, 1, sizeof page - 1, file);
    page[size] = '\0';
    return fclose (file) == 0 && size < sizeof page - 1 ? 0 : -1;
}

/* The page has these bytes, sixteen to a line after their offset. */
static void check_dump (const struct tied_message *message)
{
    uint8_t bytes[TIED_WIRE_HEADER_MAX];
    char dump[8 * TIED_WIRE_HEADER_MAX];
    size_t at = 0;
    int size = tied_wire_encode (message, bytes, sizeof bytes);
    CHECK_I64 (size, >, 0);
    for (int i = 0; i < size; i++) {
        const char *start = i % 16 == 0 && i > 0 ? "\n" : "";
        if (i % 16 == 0)
            at += (size_t)snprintf (dump + at, sizeof dump - at, "%s%04x ", start, (unsigned int)i);
        at += (size_t)snprintf (dump + at, sizeof dump - at, " %02x", (unsigned int)bytes[i]);
    }
    if (!strstr (page, dump)) {
        print_error ("not on the page: %s\n%s\n", tied_wire_type_name (message->type), dump);
        fail ();
    }
}

static const struct tied_call_id call = {UINT64_C (0x1122334455667788), 0};
static const uint64_t instance_a = UINT64_C (0xa1a2a3a4a5a6a7a8);
static const uint64_t instance_b = UINT64_C (0xb1b2b3b4b5b6b7b8);

static void the_greeting_has_the_bytes_of_the_page (void **state)
{
    (void)state;
    struct tied_message m = {.type = TIED_WIRE_HELLO};
    m.u.hello.role = TIED_WIRE_ROLE_CLIENT;
    m.u.hello.id = (struct tied_view){"app-1", 5};
    m.u.hello.incarnation = call.epoch;
    m.u.hello.time_ns = 1000000;
    check_dump (&m);
    m = (struct tied_message){.type = TIED_WIRE_WELCOME};
    m.u.welcome.id = (struct tied_view){"a", 1};
    m.u.welcome.incarnation = instance_a;
    m.u.welcome.time_ns = 1000000;
    m.u.welcome.body_max = 8 << 20;
    m.u.welcome.inline_max = 1024;
    m.u.welcome.queue_depth = 1024;
    m.u.welcome.workers = 4;
    m.u.welcome.modes = TIED_WIRE_MODES;
    check_dump (&m);
}

static void a_call_has_the_bytes_of_the_page (void **state)
{
    (void)state;
    struct tied_message m = {.type = TIED_WIRE_REQUEST};
    m.u.request.call = call;
    m.u.request.method = (struct tied_view){"echo", 4};
    m.u.request.remaining_us = 500000;
    m.u.request.sent_us = 2000;
    m.u.request.flags = TIED_REQUEST_IDEMPOTENT | TIED_REQUEST_TIED;
    m.u.request.incarnation = instance_a;
    m.u.request.sibling = (struct tied_view){"b", 1};
    m.u.request.sibling_incarnation = instance_b;
    m.u.request.attempts_left = 3;
    m.u.request.body = (struct tied_view){"hi", 2};
    check_dump (&m);
    m = (struct tied_message){.type = TIED_WIRE_REPLY};
    m.u.reply.call = call;
    m.u.reply.flags = TIED_REPLY_SIBLING_TOLD;
    m.u.reply.queue_us = 120;
    m.u.reply.service_us = 10050;
    m.u.reply.load = (struct tied_load){2, 3, 7500};
    m.u.reply.body = (struct tied_view){"hi", 2};
    check_dump (&m);
}

static void the_short_messages_have_the_bytes_of_the_page (void **state)
{
    (void)state;
    struct tied_message m = {.type = TIED_WIRE_STARTED};
    m.u.tie.call = call;
    check_dump (&m);
    m = (struct tied_message){.type = TIED_WIRE_CLAIM};
    m.u.claim.call = call;
    m.u.claim.copy = 1;
    m.u.claim.age_us = 2500;
    m.u.claim.incarnation = instance_a;
    check_dump (&m);
    m = (struct tied_message){.type = TIED_WIRE_CANCEL};
    m.u.cancel.call = call;
    m.u.cancel.reason = TIED_CANCEL_WON;
    check_dump (&m);
}

static void check_row (int number, const char *name)
{
    char row[64];
    (void)snprintf (row, sizeof row, "| %d | `%s` |", number, name);
    if (!strstr (page, row)) {
        print_error ("no such row on the page: %s\n", row);
        fail ();
    }
}

static void every_number_of_the_protocol_has_a_row_on_the_page (void **state)
{
    (void)state;
#define ROW_(name, value, text) check_row (value, text);
    TIED_WIRE_TYPE_MAP (ROW_)
    TIED_REJECT_MAP (ROW_)
    TIED_CANCEL_MAP (ROW_)
    TIED_WIRE_FAULT_MAP (ROW_)
}

static const char *counters; /* the section of that name, alone */

static void check_counter (const char *name)
{
    char quoted[64];
    (void)snprintf (quoted, sizeof quoted, "`%s`", name);
    if (!strstr (counters, quoted)) {
        print_error ("no such counter on the page: %s\n", quoted);
        fail ();
    }
}

static void every_counter_of_tied_stats_is_on_the_page (void **state)
{
    (void)state;
    static char section[1 << 14];
    const char *start = strstr (page, "\n### Counters\n");
    CHECK_TRUE (start != NULL);
    const char *end = strstr (start, "\n## ");
    CHECK_TRUE (end != NULL);
    CHECK_U64 ((size_t)(end - start), <, sizeof section);
    memcpy (section, start, (size_t)(end - start));
    counters = section;
#define COUNTER_(name) check_counter (#name);
    TIED_REPLICA_COUNTER_MAP (COUNTER_)
    TIED_REPLICA_IO_COUNTER_MAP (COUNTER_)
    /* What tied.stats adds to the counters. */
    check_counter ("depth");
    check_counter ("running");
    check_counter ("wait_us");
    check_counter ("incarnation");
    check_counter ("service_ns");
    check_counter ("workers");
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (the_greeting_has_the_bytes_of_the_page),
        cmocka_unit_test (a_call_has_the_bytes_of_the_page),
        cmocka_unit_test (the_short_messages_have_the_bytes_of_the_page),
        cmocka_unit_test (every_number_of_the_protocol_has_a_row_on_the_page),
        cmocka_unit_test (every_counter_of_tied_stats_is_on_the_page),
    };
    return cmocka_run_group_tests_name ("wire_page", tests, load_page, NULL);
}
