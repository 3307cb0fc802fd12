/* SPDX-License-Identifier: MIT */
/*
 * Method names and the numbers that the core knows them by. Number 0 is "*": what no other number
 * stands for. A name gets a number of its own when it is first used or given settings, while there
 * are numbers left; what it is not given it inherits from "*", also when that changes later. A name
 * that no call has used and that has no settings any more gives its number to a newcomer when all
 * are taken: what was learned is of the number, and of such a one nothing was.
 *
 * Used under the client's lock.
 */
#ifndef TI_CLIENT_METHODS_H
#define TI_CLIENT_METHODS_H

#include <tied/client_core.h>
#include <tied/wire.h>

#include "policy/policy_file.h"

struct ti_client_method {
    char name[TIED_NAME_MAX + 1];
    bool is_own;  /* has settings of its own; else those of "*" */
    bool is_used; /* a call was made */
    bool is_off;  /* as the settings say, whatever the switch of the whole client */
};

struct ti_client_methods {
    struct ti_client_method *methods; /* [max], by number */
    uint16_t *index;                  /* number + 1 by hash of the name, open addressing; 0: free */
    uint32_t mask;
    uint32_t max;
    uint32_t count;
    bool is_off;        /* the switch of the whole client */
    uint64_t overflows; /* uses of a name for which there was no number */
};

/* 0, TIED_ERR_NOMEM. On error nothing is left. */
TIED_NODISCARD int ti_client_methods_init (struct ti_client_methods *self, uint32_t max);
void ti_client_methods_deinit (struct ti_client_methods *self);

/* The number of a name; a new name gets one, and the settings of "*". 0 if there is none left. */
uint32_t ti_client_methods_use (struct ti_client_methods *self,
                                tied_client_core_t *core,
                                struct tied_view name);

/* The number of a name that has one; UINT32_MAX: it has none. */
uint32_t ti_client_methods_find (const struct ti_client_methods *self, struct tied_view name);

/* 0; TIED_ERR_INVAL (policy), TIED_ERR_FULL. */
TIED_NODISCARD int ti_client_methods_set (struct ti_client_methods *self,
                                          tied_client_core_t *core,
                                          struct tied_view name,
                                          const struct tied_policy *policy);
/* From now on it inherits. */
void ti_client_methods_unset (struct ti_client_methods *self,
                              tied_client_core_t *core,
                              uint32_t number);

/* These settings and no others: what is not among them inherits. 0; TIED_ERR_FULL: nothing has
   changed. The policies are valid and their names differ. */
TIED_NODISCARD int ti_client_methods_replace (struct ti_client_methods *self,
                                              tied_client_core_t *core,
                                              const struct ti_policies *policies);

/* What the method has been given or inherits: without the switch below. */
struct tied_policy ti_client_methods_policy (const struct ti_client_methods *self,
                                             const tied_client_core_t *core,
                                             uint32_t number);
/* The kill switch of all methods, those that come included. */
void ti_client_methods_set_off (struct ti_client_methods *self,
                                tied_client_core_t *core,
                                bool is_off);

#endif
