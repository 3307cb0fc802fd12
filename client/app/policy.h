/* SPDX-License-Identifier: MIT */
/*
 * A policy of the load tool: MODE[:STAGGER][+hedge:DELAY][/PICK], as in "tied:1ms/random" or
 * "single+hedge:10ms". The grammar is that of tools/policy_text.h; this is what a call takes of it.
 */
#ifndef TIED_CLIENT_POLICY_H
#define TIED_CLIENT_POLICY_H

#include <tied/client.h>

#include "tools/cli.h"

struct policy {
    const char *name; /* the text that it was read from */
    uint32_t mode;    /* enum tied_mode */
    uint32_t pick;    /* enum tied_pick */
    tied_duration_t stagger_ns;
    tied_duration_t hedge_ns;
};

/* 0, or negative with one line in why. */
TIED_NODISCARD int policy_parse (const char *text, struct policy *out, char why[TI_CLI_WHY_MAX]);

#endif
