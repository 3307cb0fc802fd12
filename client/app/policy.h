/* SPDX-License-Identifier: MIT */
/*
 * A policy of the load tool: MODE[:STAGGER][+hedge:RULE[@SHARE]][/PICK], as in "tied:1ms/random" or
 * "single+hedge:auto@5%". The grammar is that of tools/policy_text.h; this is what a client takes
 * of it. "file" stands for a policy file.
 */
#ifndef TIED_CLIENT_POLICY_H
#define TIED_CLIENT_POLICY_H

#include <tied/client.h>

#include "tools/cli.h"

#define POLICY_OF_FILE "file"

struct policy {
    const char *name; /* the text that it was read from */
    bool is_of_file;  /* POLICY_OF_FILE: the settings are those of a policy file, read elsewhere */
    uint32_t pick;    /* enum tied_pick */
    struct tied_policy settings;
};

/* 0, or negative with one line in why. */
TIED_NODISCARD int policy_parse (const char *text, struct policy *out, char why[TI_CLI_WHY_MAX]);

#endif
