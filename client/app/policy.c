/* SPDX-License-Identifier: MIT */
#include "policy.h"

#include <stdio.h>
#include <string.h>

#include "tools/units.h"

/* As the library bounds it. */
#define DELAY_MAX TIED_S (3600)
#define EXPECTED                                                                                   \
    "write single, tied or tied:STAGGER, with +hedge:DELAY and /random, /informed or "             \
    "/round-robin if wanted"
#define HEDGE "hedge:"

static int refuse (char *why, const char *text)
{
    char quoted[TI_CLI_QUOTE_MAX];

    snprintf (why, TI_CLI_WHY_MAX, "%s is no policy: " EXPECTED, ti_cli_quote (text, quoted));
    return TIED_ERR_INVAL;
}

static int parse_delay (const char *name, const char *text, tied_duration_t *out, char *why)
{
    char quoted[TI_CLI_QUOTE_MAX];
    uint64_t ns = 0;
    int rc = ti_parse_duration (text, &ns);

    if (rc == 0 && ns <= DELAY_MAX) {
        *out = ns;
        return 0;
    }
    snprintf (why, TI_CLI_WHY_MAX, "%s %s %s: write a duration like 1ms, up to 1h", name,
              ti_cli_quote (text, quoted), rc ? ti_units_text (rc) : "is too large");
    return TIED_ERR_INVAL;
}

static int parse_hedge (const char *text, struct policy *out, char *why)
{
    int rc = parse_delay ("hedge", text + strlen (HEDGE), &out->hedge_ns, why);

    if (rc == 0 && out->hedge_ns == 0)
        out->hedge_ns = TIED_HEDGE_NOW;
    return rc;
}

static int parse_pick (const char *text, uint32_t *out)
{
    static const char *const names[] = {[TIED_PICK_INFORMED] = "informed",
                                        [TIED_PICK_RANDOM] = "random",
                                        [TIED_PICK_ROUND_ROBIN] = "round-robin"};

    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp (text, names[i]) == 0) {
            *out = i;
            return 0;
        }
    }
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
    char *hedge;
    char *stagger;
    int rc = 0;

    if (strlen (text) >= sizeof copy)
        return refuse (why, text);
    memcpy (copy, text, strlen (text) + 1);
    pick = strchr (copy, '/');
    if (pick)
        *pick++ = 0;
    hedge = strchr (copy, '+');
    if (hedge)
        *hedge++ = 0;
    stagger = strchr (copy, ':');
    if (stagger)
        *stagger++ = 0;

    if (strcmp (copy, "tied") == 0) {
        policy.mode = TIED_MODE_TIED;
        policy.pick = TIED_PICK_INFORMED;
    } else if (strcmp (copy, "single") != 0 || stagger) {
        return refuse (why, text);
    }
    if ((pick && parse_pick (pick, &policy.pick) != 0) ||
        (hedge && strncmp (hedge, HEDGE, strlen (HEDGE)) != 0))
        return refuse (why, text);
    if (stagger)
        rc = parse_delay ("stagger", stagger, &policy.stagger_ns, why);
    if (rc == 0 && hedge)
        rc = parse_hedge (hedge, &policy, why);
    if (rc == 0)
        *out = policy;
    return rc;
}
