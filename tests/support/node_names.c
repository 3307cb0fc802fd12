/* SPDX-License-Identifier: MIT */
/* Names of replicas and notes, see node.h. */
#include "node_internal.h"

#include <string.h>

#include "base/assert.h"

static const char *const replica_names[] = {"r0",  "r1",  "r2",  "r3",  "r4",  "r5",  "r6",  "r7",
                                            "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15",
                                            "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23",
                                            "r24", "r25", "r26", "r27", "r28", "r29", "r30", "r31"};

TI_STATIC_ASSERT (sizeof replica_names / sizeof replica_names[0] == NODE_REPLICAS_MAX,
                  "one name per replica");

struct tied_view node_replica_name (int replica)
{
    return (struct tied_view){replica_names[replica], strlen (replica_names[replica])};
}

int node_replica_named (struct tied_view name)
{
    for (int i = 0; i < NODE_REPLICAS_MAX; i++) {
        if (strlen (replica_names[i]) == name.size &&
            memcmp (replica_names[i], name.data, name.size) == 0)
            return i;
    }
    return NODE_NOBODY;
}

const char *node_note_text (enum node_note_kind kind)
{
#define TEXT(name, text) text,
    static const char *const texts[] = {NODE_NOTE_MAP (TEXT)};
#undef TEXT
    return kind < NODE_NOTE_COUNT ? texts[kind] : "?";
}
