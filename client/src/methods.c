/* SPDX-License-Identifier: MIT */
#include "methods.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/hash.h"

#define NO_NUMBER UINT32_MAX

int ti_client_methods_init (struct ti_client_methods *self, uint32_t max)
{
    uint32_t size = 4;

    while (size < 2 * max)
        size *= 2;
    memset (self, 0, sizeof *self);
    self->methods = calloc (max, sizeof *self->methods);
    self->index = calloc (size, sizeof *self->index);
    if (!self->methods || !self->index) {
        ti_client_methods_deinit (self);
        return TIED_ERR_NOMEM;
    }
    self->mask = size - 1;
    self->max = max;
    self->count = 1;
    self->methods[0].name[0] = '*';
    self->methods[0].is_own = true;
    return 0;
}

void ti_client_methods_deinit (struct ti_client_methods *self)
{
    free (self->methods);
    free (self->index);
    memset (self, 0, sizeof *self);
}

static bool has_name (const struct ti_client_methods *self, uint32_t number, struct tied_view name)
{
    const char *own = self->methods[number].name;

    return strlen (own) == name.size && memcmp (own, name.data, name.size) == 0;
}

/* Where the name is in the index, or the free place where it would be. */
static uint32_t place_of (const struct ti_client_methods *self, struct tied_view name)
{
    uint32_t at = (uint32_t)ti_hash_bytes (name.data, name.size) & self->mask;

    while (self->index[at] && !has_name (self, self->index[at] - 1u, name))
        at = (at + 1) & self->mask;
    return at;
}

static bool is_default (struct tied_view name)
{
    return name.size == 1 && *(const char *)name.data == '*';
}

uint32_t ti_client_methods_find (const struct ti_client_methods *self, struct tied_view name)
{
    const uint32_t place = self->index[place_of (self, name)];

    if (is_default (name))
        return 0;
    return place ? place - 1u : NO_NUMBER;
}

/* The settings reach the core with the switch of the whole client in them. */
static void give (struct ti_client_methods *self,
                  tied_client_core_t *core,
                  uint32_t number,
                  const struct tied_policy *policy)
{
    struct tied_policy given = *policy;

    self->methods[number].is_off = policy->is_off;
    given.is_off = policy->is_off || self->is_off;
    if (tied_client_core_set_policy (core, number, &given) != 0)
        TI_UNREACHABLE ();
}

struct tied_policy ti_client_methods_policy (const struct ti_client_methods *self,
                                             const tied_client_core_t *core,
                                             uint32_t number)
{
    struct tied_policy policy = *tied_client_core_policy (core, number);

    policy.is_off = self->methods[number].is_off;
    return policy;
}

static void inherit (struct ti_client_methods *self, tied_client_core_t *core, uint32_t number)
{
    const struct tied_policy policy = ti_client_methods_policy (self, core, 0);

    give (self, core, number, &policy);
}

void ti_client_methods_set_off (struct ti_client_methods *self,
                                tied_client_core_t *core,
                                bool is_off)
{
    self->is_off = is_off;
    for (uint32_t number = 0; number < self->count; number++) {
        const struct tied_policy policy = ti_client_methods_policy (self, core, number);

        give (self, core, number, &policy);
    }
}

static struct tied_view view_of (const char *name)
{
    return (struct tied_view){name, strlen (name)};
}

static bool is_spare (const struct ti_client_method *method)
{
    return !method->is_own && !method->is_used;
}

/* Take a name away that needs its number no more. NO_NUMBER if there is none. */
static uint32_t free_one (struct ti_client_methods *self)
{
    uint32_t number = 1;

    while (number < self->count && !is_spare (&self->methods[number]))
        number++;
    if (number >= self->count)
        return NO_NUMBER;
    memset (self->methods[number].name, 0, sizeof self->methods[number].name);
    /* A hole would end the search for names that lie behind it. */
    memset (self->index, 0, ((size_t)self->mask + 1) * sizeof *self->index);
    for (uint32_t other = 1; other < self->count; other++)
        if (other != number)
            self->index[place_of (self, view_of (self->methods[other].name))] =
                (uint16_t)(other + 1);
    return number;
}

static uint32_t
add (struct ti_client_methods *self, tied_client_core_t *core, struct tied_view name)
{
    const uint32_t number = self->count < self->max ? self->count++ : free_one (self);

    if (number == NO_NUMBER)
        return NO_NUMBER;
    TI_ASSERT (name.size <= TIED_NAME_MAX);
    self->index[place_of (self, name)] = (uint16_t)(number + 1);
    memcpy (self->methods[number].name, name.data, name.size);
    inherit (self, core, number);
    return number;
}

uint32_t ti_client_methods_use (struct ti_client_methods *self,
                                tied_client_core_t *core,
                                struct tied_view name)
{
    uint32_t number = ti_client_methods_find (self, name);

    if (number == NO_NUMBER)
        number = add (self, core, name);
    if (number != NO_NUMBER) {
        self->methods[number].is_used = true;
        return number;
    }
    self->overflows++;
    return 0;
}

int ti_client_methods_set (struct ti_client_methods *self,
                           tied_client_core_t *core,
                           struct tied_view name,
                           const struct tied_policy *policy)
{
    uint32_t number = ti_client_methods_find (self, name);

    if (tied_policy_check (policy, NULL) != 0)
        return TIED_ERR_INVAL;
    if (number == NO_NUMBER)
        number = add (self, core, name);
    if (number == NO_NUMBER)
        return TIED_ERR_FULL;
    give (self, core, number, policy);
    self->methods[number].is_own = true;
    for (uint32_t other = 1; number == 0 && other < self->count; other++)
        if (!self->methods[other].is_own)
            inherit (self, core, other);
    return 0;
}

void ti_client_methods_unset (struct ti_client_methods *self,
                              tied_client_core_t *core,
                              uint32_t number)
{
    TI_ASSERT (number > 0 && number < self->count);
    self->methods[number].is_own = false;
    inherit (self, core, number);
}

/* Whether the names have room, if those that are kept are the used ones and these. */
static bool has_room (struct ti_client_methods *self, const struct ti_policies *policies)
{
    uint32_t kept = 1;

    for (uint32_t number = 1; number < self->count; number++)
        kept += self->methods[number].is_used;
    for (uint32_t i = 0; i < policies->count; i++) {
        const uint32_t number = ti_client_methods_find (self, view_of (policies->items[i].name));

        kept += number == NO_NUMBER || (number != 0 && !self->methods[number].is_used);
    }
    return kept <= self->max;
}

int ti_client_methods_replace (struct ti_client_methods *self,
                               tied_client_core_t *core,
                               const struct ti_policies *policies)
{
    if (!has_room (self, policies))
        return TIED_ERR_FULL;
    for (uint32_t number = 1; number < self->count; number++)
        self->methods[number].is_own = false;
    /* Those that are there keep their numbers: none of them is spare when the first newcomer needs
       one. */
    for (uint32_t i = 0; i < policies->count; i++) {
        const uint32_t number = ti_client_methods_find (self, view_of (policies->items[i].name));

        if (number != NO_NUMBER)
            self->methods[number].is_own = true;
    }
    /* "*" comes first, so that it reaches all others before they get their own. */
    for (uint32_t i = 0; i < policies->count; i++)
        if (ti_client_methods_set (self, core, view_of (policies->items[i].name),
                                   &policies->items[i].policy) != 0)
            TI_UNREACHABLE ();
    return 0;
}
