/* SPDX-License-Identifier: MIT */
/*
 * Names given at configuration time (methods, peer ids) and their index, found by hash. Filled
 * before the replica starts, only read afterwards.
 */
#ifndef TI_NAMES_H
#define TI_NAMES_H

#include <tied/error.h>
#include <tied/types.h>

#define TI_NAME_NONE UINT32_MAX

struct ti_name {
    uint64_t hash;
    size_t size;
    char text[TIED_NAME_MAX + 1]; /* NUL-terminated */
};

struct ti_names {
    struct ti_name *items; /* in order of addition; lives until _deinit, moves when one is added */
    uint32_t *slots;       /* item number plus 1; 0: free */
    uint32_t count;
    uint32_t max;
    uint32_t mask;
};

/* max in [0, 1 << 20]. 0 or TIED_ERR_NOMEM. */
TIED_NODISCARD int ti_names_init (struct ti_names *self, uint32_t max);
/* Accepts a struct that is all zeros. */
void ti_names_deinit (struct ti_names *self);
/* Index of the new name (>= 0); TIED_ERR_EXISTS; TIED_ERR_FULL. size in [1, TIED_NAME_MAX]. */
TIED_NODISCARD int ti_names_add (struct ti_names *self, const char *text, size_t size);
/* TI_NAME_NONE if absent; any size is accepted. */
uint32_t ti_names_find (const struct ti_names *self, const void *text, size_t size);

#endif
