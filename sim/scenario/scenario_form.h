/* SPDX-License-Identifier: MIT */
/*
 * What is filled while a scenario is read: the scenario, and the files that its values come from,
 * which are opened only when everything else is in order. Internal to this folder.
 */
#ifndef SIM_SCENARIO_FORM_H
#define SIM_SCENARIO_FORM_H

#include "scenario/scenario.h"
#include "yaml/schema.h"

#define SIM_PATH_MAX 1024

/* A table that a file holds. */
struct sim_file {
    char path[SIM_PATH_MAX]; /* "": none */
    char column[SIM_NAME_MAX];
    uint64_t unit_ns;                      /* 0: as the file says */
    char where[TI_DOCUMENT_NAME_MAX + 24]; /* "FILE:LINE:COLUMN" of the key that names it */
};

struct sim_form {
    struct sim_scenario scenario;
    struct sim_file times, service, pauses;
};

extern const struct ti_schema sim_scenario_schema;

/* A document's keys change more than their own values: what they stand against in the scenario that
 * is extended is forgotten before the document is applied, and settled with the rest after. */
void sim_form_forget (struct sim_form *form, const struct ti_document *document);
TIED_NODISCARD int sim_form_settle (struct sim_form *form, struct ti_reader *reader);
/* What must hold in the end, whoever gave the values. */
TIED_NODISCARD int sim_form_check (const struct sim_form *form, struct ti_reader *reader);

/* `name` of a file in the folder of `beside`; absolute names stay. false: too long */
bool sim_path_beside (const char *beside, const char *name, char path[SIM_PATH_MAX]);

#endif
