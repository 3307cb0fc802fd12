/* SPDX-License-Identifier: MIT */
/* Settings of methods at run time, and what a method's calls have shown. */
#include <stdio.h>
#include <string.h>

#include "client_internal.h"
#include "text/quote.h"
#include "wire/fields.h"

static bool take_name (const char *method, struct tied_view *out)
{
    if (!method)
        return false;
    *out = (struct tied_view){method, strnlen (method, TIED_NAME_MAX + 1)};
    return ti_wire_is_name (out->data, out->size);
}

int tied_client_set_policy (tied_client_t *self,
                            const char *method,
                            const struct tied_policy *policy)
{
    struct tied_view name;
    int rc;

    if (!self || !policy || !take_name (method, &name))
        return TIED_ERR_INVAL;
    pthread_mutex_lock (&self->lock);
    rc = ti_client_methods_set (&self->methods, self->core, name, policy);
    pthread_mutex_unlock (&self->lock);
    return rc;
}

int tied_client_reset_policy (tied_client_t *self, const char *method)
{
    struct tied_view name;
    uint32_t number;
    int rc = 0;

    if (!self || !take_name (method, &name))
        return TIED_ERR_INVAL;
    pthread_mutex_lock (&self->lock);
    number = ti_client_methods_find (&self->methods, name);
    if (number == UINT32_MAX || number == 0)
        rc = TIED_ERR_ABSENT;
    else
        ti_client_methods_unset (&self->methods, self->core, number);
    pthread_mutex_unlock (&self->lock);
    return rc;
}

int tied_client_policy (tied_client_t *self, const char *method, struct tied_policy *out)
{
    struct tied_view name;
    uint32_t number;

    if (!self || !out || !take_name (method, &name))
        return TIED_ERR_INVAL;
    pthread_mutex_lock (&self->lock);
    number = ti_client_methods_find (&self->methods, name);
    *out = ti_client_methods_policy (&self->methods, self->core, number == UINT32_MAX ? 0 : number);
    pthread_mutex_unlock (&self->lock);
    return 0;
}

int tied_client_set_off (tied_client_t *self, bool is_off)
{
    if (!self)
        return TIED_ERR_INVAL;
    pthread_mutex_lock (&self->lock);
    ti_client_methods_set_off (&self->methods, self->core, is_off);
    pthread_mutex_unlock (&self->lock);
    return 0;
}

int tied_client_method (tied_client_t *self, const char *method, struct tied_client_method *out)
{
    struct tied_view name;
    uint32_t number;
    int rc = TIED_ERR_ABSENT;

    if (!self || !out || !take_name (method, &name))
        return TIED_ERR_INVAL;
    pthread_mutex_lock (&self->lock);
    number = ti_client_methods_find (&self->methods, name);
    if (number != UINT32_MAX)
        rc = tied_client_core_method (self->core, number, out);
    pthread_mutex_unlock (&self->lock);
    return rc;
}

int tied_client_load_policies (tied_client_t *self,
                               const char *path,
                               char *error_text,
                               size_t error_size)
{
    struct ti_policies policies;
    char why[TI_DOCUMENT_WHY_MAX] = "";
    int rc = TIED_ERR_INVAL;

    if (self && path)
        rc = ti_policies_read_file (path, self->methods.max, &policies, why);
    if (rc == 0) {
        pthread_mutex_lock (&self->lock);
        rc = ti_client_methods_replace (&self->methods, self->core, &policies);
        pthread_mutex_unlock (&self->lock);
        ti_policies_deinit (&policies);
        if (rc != 0)
            snprintf (why, sizeof why,
                      "%.160s: with the methods that were used before, these are more than the %u "
                      "that there may be (methods_max)",
                      path, self->methods.max);
    }
    if (error_text && error_size > 0)
        snprintf (error_text, error_size, "%s", ti_plain (why));
    return rc;
}
