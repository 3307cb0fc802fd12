/* SPDX-License-Identifier: MIT */
/*
 * Fuzzer of the policy file: any bytes are read; what is accepted is within the bounds that the
 * core relies on, what is refused has one line that says so.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "policy/policy_file.h"
#include "wire/fields.h"

#define METHODS_MAX 16

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static void require (bool is_true)
{
    if (!is_true)
        abort ();
}

static void check_line (const char *why)
{
    const size_t length = strnlen (why, TI_DOCUMENT_WHY_MAX);
    require (length > 0 && length < TI_DOCUMENT_WHY_MAX);
    for (size_t i = 0; i < length; i++)
        require ((unsigned char)why[i] >= 0x20 && why[i] != 0x7f);
}

static void check_policies (const struct ti_policies *policies)
{
    require (policies->count >= 1 && policies->count <= METHODS_MAX);
    require (strcmp (policies->items[0].name, "*") == 0);
    for (uint32_t i = 0; i < policies->count; i++) {
        const char *name = policies->items[i].name;
        require (ti_wire_is_name (name, strnlen (name, TIED_NAME_MAX + 1)));
        require (tied_policy_check (&policies->items[i].policy, NULL) == 0);
        for (uint32_t other = 0; other < i; other++)
            require (strcmp (policies->items[other].name, name) != 0);
    }
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    struct ti_policies policies;
    char why[TI_DOCUMENT_WHY_MAX] = "";

    if (ti_policies_read_text ("fuzz.yaml", (const char *)data, size, METHODS_MAX, &policies,
                               why) != 0) {
        check_line (why);
        return 0;
    }
    check_policies (&policies);
    ti_policies_deinit (&policies);
    return 0;
}
