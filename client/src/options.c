/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/util.h"
#include "client_internal.h"
#include "wire/fields.h"
#include "zmq/clock.h"

#define BODY_LIMIT   (UINT32_C (64) << 20)
#define INLINE_LIMIT (UINT32_C (64) << 10)

void tied_client_options_init (struct tied_client_options *options)
{
    memset (options, 0, sizeof *options);
    options->struct_size = sizeof *options;
    options->name = "client";
    options->drive = TIED_DRIVE_THREADED;
    options->body_max = UINT32_C (8) << 20;
    options->inline_max = 1024;
    options->timeout_ns = TIED_S (1);
    tied_client_core_options_init (&options->core);
    options->core.epoch = 0;
    options->core.seed = 0;
    options->core.methods_max = 16;
}

static const char *bad_field (const struct tied_client_options *options)
{
    if (options->struct_size != sizeof *options)
        return "struct_size";
    if (!options->name ||
        !ti_wire_is_name (options->name, strnlen (options->name, TIED_NAME_MAX + 1)))
        return "name";
    if (options->drive > TIED_DRIVE_CALLER)
        return "drive";
    if (options->body_max > BODY_LIMIT)
        return "body_max";
    if (options->inline_max > INLINE_LIMIT)
        return "inline_max";
    if (options->timeout_ns < TIED_US (1))
        return "timeout_ns";
    return NULL;
}

/* The core takes no zeros here, and the system has to be asked only for a real client. */
static bool check (const struct tied_client_options *options, const char **out_field)
{
    struct tied_client_core_options core;
    const char *field = options ? bad_field (options) : "options";

    if (!field) {
        core = options->core;
        if (core.epoch == 0)
            core.epoch = 1;
        if (tied_client_core_options_check (&core, &field) == 0)
            return true;
    }
    if (out_field)
        *out_field = field;
    return false;
}

int tied_client_options_check (const struct tied_client_options *options, const char **out_field)
{
    return check (options, out_field) ? 0 : TIED_ERR_INVAL;
}

int ti_client_options_import (const struct tied_client_options *options,
                              struct tied_client_options *out)
{
    if (!check (options, NULL))
        return TIED_ERR_INVAL;
    *out = *options;
    if (out->core.epoch == 0)
        out->core.epoch = ti_random_u64 ();
    if (out->core.seed == 0)
        out->core.seed = ti_random_u64 ();
    return 0;
}
