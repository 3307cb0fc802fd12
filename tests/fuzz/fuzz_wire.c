/* SPDX-License-Identifier: MIT */
/*
 * Fuzzer of the header codec: any bytes are decoded; what is accepted must encode within its bound,
 * and what was encoded must decode to the same message. Seeds: tests/fuzz/seed_wire.py.
 */
#include "messages.h"

#include <stdlib.h>

#include <tied/wire.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static void require (bool is_true)
{
    if (!is_true)
        abort ();
}

static void check_view (struct tied_view view, const uint8_t *data, size_t size)
{
    if (view.size == 0)
        return;
    const uint8_t *start = view.data;
    require (start >= data && view.size <= size && start <= data + size - view.size);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    struct tied_message message;
    int fault = -1;
    int rc = tied_wire_decode (data, size, &message, &fault);
    require ((rc == 0) == (fault == TIED_WIRE_FAULT_NONE));
    if (rc != 0) {
        require (fault > 0 && fault < TIED_WIRE_FAULT_COUNT);
        return 0;
    }
    struct elements list = elements_of (&message);
    for (size_t i = 0; i < list.count; i++)
        check_view (list.at[i].bytes, data, size);

    size_t bound = tied_wire_bound (&message);
    uint8_t *bytes = malloc (bound);
    require (bytes != NULL);
    int length = tied_wire_encode (&message, bytes, bound);
    require (length > 0 && (size_t)length <= bound);
    /* The shortest form of what is known: never longer than what came, but for the modes that the
       first revision of WELCOME was without. */
    require ((size_t)length <= size + (message.type == TIED_WIRE_WELCOME));
    struct tied_message back;
    require (tied_wire_decode (bytes, (size_t)length, &back, NULL) == 0);
    require (message_equal (&message, &back));
    free (bytes);
    return 0;
}
