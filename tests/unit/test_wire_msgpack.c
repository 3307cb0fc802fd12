/* SPDX-License-Identifier: MIT */
/*
 * The header codec against msgpack-c, which knows nothing of it: every header that we write is
 * msgpack that it reads, and what it packs, in any form the specification allows, we read.
 */
#include "check.h"
#include "messages.h"

#include <msgpack.h>

static struct sample_storage storage;
static uint8_t buffer[SAMPLE_BODY_MAX + TIED_WIRE_HEADER_MAX];

static void check_object (const msgpack_object *object, const struct element *want)
{
    switch (want->kind) {
    case ELEMENT_UINT:
        CHECK_I64 (object->type, ==, MSGPACK_OBJECT_POSITIVE_INTEGER);
        CHECK_U64 (object->via.u64, ==, want->number);
        break;
    case ELEMENT_STR:
        CHECK_I64 (object->type, ==, MSGPACK_OBJECT_STR);
        CHECK_U64 (object->via.str.size, ==, want->bytes.size);
        CHECK_MEM (object->via.str.ptr, want->bytes.data, want->bytes.size);
        break;
    case ELEMENT_BIN:
        CHECK_I64 (object->type, ==, MSGPACK_OBJECT_BIN);
        CHECK_U64 (object->via.bin.size, ==, want->bytes.size);
        CHECK_MEM (object->via.bin.ptr, want->bytes.data, want->bytes.size);
        break;
    case ELEMENT_NIL:
        CHECK_I64 (object->type, ==, MSGPACK_OBJECT_NIL);
        break;
    }
}

static void msgpack_c_reads_every_header_that_we_write (void **state)
{
    (void)state;
    uint64_t seed = 21;
    uint64_t rounds = check_scale (2000);
    msgpack_zone zone;
    CHECK_TRUE (msgpack_zone_init (&zone, MSGPACK_ZONE_CHUNK_SIZE));
    for (uint64_t i = 0; i < rounds; i++)
        for (uint8_t type = TIED_WIRE_HELLO; type <= TIED_WIRE_DENY; type++) {
            struct tied_message message = sample_message (type, &seed, &storage);
            int size = tied_wire_encode (&message, buffer, sizeof buffer);
            CHECK_I64 (size, >, 0);
            size_t at = 0;
            msgpack_object object;
            CHECK_I64 (msgpack_unpack ((const char *)buffer, (size_t)size, &at, &zone, &object), ==,
                       MSGPACK_UNPACK_SUCCESS);
            CHECK_U64 (at, ==, size);
            CHECK_I64 (object.type, ==, MSGPACK_OBJECT_ARRAY);
            struct elements want = elements_of (&message);
            CHECK_U64 (object.via.array.size, ==, want.count);
            for (size_t k = 0; k < want.count; k++)
                check_object (&object.via.array.ptr[k], &want.at[k]);
            msgpack_zone_clear (&zone);
        }
    msgpack_zone_destroy (&zone);
}

static void check_decodes_to (const msgpack_sbuffer *packed, const struct tied_message *want)
{
    uint8_t *exact = malloc (packed->size);
    CHECK_PTR (exact, !=, NULL);
    memcpy (exact, packed->data, packed->size);
    struct tied_message got;
    int fault = -1;
    CHECK_I64 (tied_wire_decode (exact, packed->size, &got, &fault), ==, 0);
    CHECK_TRUE (message_equal (want, &got));
    free (exact);
}

static void we_read_every_header_that_msgpack_c_packs (void **state)
{
    (void)state;
    uint64_t seed = 22;
    uint64_t rounds = check_scale (2000);
    msgpack_sbuffer packed;
    msgpack_sbuffer_init (&packed);
    msgpack_packer packer;
    msgpack_packer_init (&packer, &packed, msgpack_sbuffer_write);
    for (uint64_t i = 0; i < rounds; i++)
        for (uint8_t type = TIED_WIRE_HELLO; type <= TIED_WIRE_DENY; type++) {
            struct tied_message message = sample_message (type, &seed, &storage);
            struct elements list = elements_of (&message);
            msgpack_sbuffer_clear (&packed);
            msgpack_pack_array (&packer, list.count);
            for (size_t k = 0; k < list.count; k++) {
                const struct element *e = &list.at[k];
                if (e->kind == ELEMENT_UINT)
                    msgpack_pack_uint64 (&packer, e->number);
                else if (e->kind == ELEMENT_STR)
                    msgpack_pack_str_with_body (&packer, e->bytes.data, e->bytes.size);
                else if (e->kind == ELEMENT_BIN)
                    msgpack_pack_bin_with_body (&packer, e->bytes.data, e->bytes.size);
                else
                    msgpack_pack_nil (&packer);
            }
            check_decodes_to (&packed, &message);
            /* Both take the shortest form, so the bytes are the same too. */
            CHECK_I64 (tied_wire_encode (&message, buffer, sizeof buffer), ==, packed.size);
            CHECK_MEM (buffer, packed.data, packed.size);
        }
    msgpack_sbuffer_destroy (&packed);
}

/* A head of width 1, 2 or 4 bytes whose markers follow each other, then its bytes. */
static void
put_wide (msgpack_sbuffer *packed, uint8_t marker, unsigned form, const struct tied_view *view)
{
    char head[5];
    size_t width = (size_t)1 << form;
    head[0] = (char)(marker + form);
    for (size_t i = 0; i < width; i++)
        head[1 + i] = (char)(view->size >> 8 * (width - 1 - i));
    CHECK_I64 (msgpack_sbuffer_write (packed, head, 1 + width), ==, 0);
    if (view->size)
        CHECK_I64 (msgpack_sbuffer_write (packed, view->data, view->size), ==, 0);
}

/* Wider than needed is allowed: integers of all widths, str and bin with all length forms. */
static void we_read_every_form_of_every_element (void **state)
{
    (void)state;
    uint64_t seed = 23;
    uint64_t rounds = check_scale (2000);
    msgpack_sbuffer packed;
    msgpack_sbuffer_init (&packed);
    msgpack_packer packer;
    msgpack_packer_init (&packer, &packed, msgpack_sbuffer_write);
    for (uint64_t i = 0; i < rounds; i++)
        for (uint8_t type = TIED_WIRE_HELLO; type <= TIED_WIRE_DENY; type++) {
            struct tied_message message = sample_message (type, &seed, &storage);
            struct elements list = elements_of (&message);
            msgpack_sbuffer_clear (&packed);
            char array32[] = {(char)0xdd, 0, 0, 0, (char)list.count};
            char array16[] = {(char)0xdc, 0, (char)list.count};
            if (sample_next (&seed) % 2)
                CHECK_I64 (msgpack_sbuffer_write (&packed, array32, 5), ==, 0);
            else
                CHECK_I64 (msgpack_sbuffer_write (&packed, array16, 3), ==, 0);
            for (size_t k = 0; k < list.count; k++) {
                const struct element *e = &list.at[k];
                unsigned form = (unsigned)(sample_next (&seed) % 4);
                if (e->kind == ELEMENT_UINT) {
                    if (form == 0 && e->number <= UINT8_MAX)
                        msgpack_pack_fix_uint8 (&packer, (uint8_t)e->number);
                    else if (form <= 1 && e->number <= UINT16_MAX)
                        msgpack_pack_fix_uint16 (&packer, (uint16_t)e->number);
                    else if (form <= 2 && e->number <= UINT32_MAX)
                        msgpack_pack_fix_uint32 (&packer, (uint32_t)e->number);
                    else
                        msgpack_pack_fix_uint64 (&packer, e->number);
                } else if (e->kind == ELEMENT_NIL)
                    msgpack_pack_nil (&packer);
                else {
                    form = form > 2 ? 2 : form;
                    if (e->bytes.size > UINT16_MAX)
                        form = 2;
                    else if (e->bytes.size > UINT8_MAX && form == 0)
                        form = 1;
                    put_wide (&packed, e->kind == ELEMENT_STR ? 0xd9 : 0xc4, form, &e->bytes);
                }
            }
            check_decodes_to (&packed, &message);
        }
    msgpack_sbuffer_destroy (&packed);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (msgpack_c_reads_every_header_that_we_write),
        cmocka_unit_test (we_read_every_header_that_msgpack_c_packs),
        cmocka_unit_test (we_read_every_form_of_every_element),
    };
    return cmocka_run_group_tests_name ("wire_msgpack", tests, NULL, NULL);
}
