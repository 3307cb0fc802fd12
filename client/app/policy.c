/* SPDX-License-Identifier: MIT */
#include "policy.h"

#include <stdio.h>
#include <string.h>

#include "tools/units.h"

/* As the library bounds it. */
#define STAGGER_MAX TIED_S (3600)
#define EXPECTED    "write single, tied or tied:STAGGER, with /random or /informed if wanted"

static int refuse (char *why, const char *text)
{
    char quoted[TI_CLI_QUOTE_MAX];

    snprintf (why, TI_CLI_WHY_MAX, "%s is no policy: " EXPECTED, ti_cli_quote (text, quoted));
    return TIED_ERR_INVAL;
}

static int parse_stagger (const char *text, struct policy *out, char *why)
{
    char quoted[TI_CLI_QUOTE_MAX];
    uint64_t ns = 0;
    int rc = ti_parse_duration (text, &ns);

    if (rc == 0 && ns <= STAGGER_MAX) {
        out->stagger_ns = ns;
        return 0;
    }
    snprintf (why, TI_CLI_WHY_MAX, "stagger %s %s: write a duration like 1ms, up to 1h",
              ti_cli_quote (text, quoted), rc ? ti_units_text (rc) : "is too large");
    return TIED_ERR_INVAL;
}

int policy_parse (const char *text, struct policy *out, char why[TI_CLI_WHY_MAX])
{
    struct policy policy = {.name = text,
                            .mode = TIED_MODE_SINGLE,
                            .pick = TIED_PICK_RANDOM,
                            .stagger_ns = TIED_STAGGER_AUTO};
    char copy[64];
    char *pick;
    char *stagger;
    int rc = 0;

    if (strlen (text) >= sizeof copy)
        return refuse (why, text);
    memcpy (copy, text, strlen (text) + 1);
    pick = strchr (copy, '/');
    if (pick)
        *pick++ = 0;
    stagger = strchr (copy, ':');
    if (stagger)
        *stagger++ = 0;

    if (strcmp (copy, "tied") == 0) {
        policy.mode = TIED_MODE_TIED;
        policy.pick = TIED_PICK_INFORMED;
    } else if (strcmp (copy, "single") != 0 || stagger) {
        return refuse (why, text);
    }
    if (pick && strcmp (pick, "random") == 0)
        policy.pick = TIED_PICK_RANDOM;
    else if (pick && strcmp (pick, "informed") == 0)
        policy.pick = TIED_PICK_INFORMED;
    else if (pick)
        return refuse (why, text);
    if (stagger)
        rc = parse_stagger (stagger, &policy, why);
    if (rc == 0)
        *out = policy;
    return rc;
}
