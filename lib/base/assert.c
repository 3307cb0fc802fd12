/* SPDX-License-Identifier: MIT */
#include "assert.h"

#include <stddef.h>
#include <stdlib.h>

ti_assert_fn *ti_assert_handler = NULL;

_Noreturn void ti_assert_failed (const char *expression, const char *file, int line)
{
    if (ti_assert_handler)
        ti_assert_handler (expression, file, line);
    abort ();
}
