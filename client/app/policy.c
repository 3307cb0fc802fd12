/* SPDX-License-Identifier: MIT */
#include "policy.h"

#include <string.h>

#include "tools/policy_text.h"

static const struct ti_policy_grammar grammar = {
    .takes = TI_TAKES_STAGGER | TI_TAKES_HEDGE | TI_TAKES_PICK,
    .examples = "single, tied or tied:STAGGER, with +hedge:RULE and /random, /informed or "
                "/round-robin if wanted"};

int policy_parse (const char *text, struct policy *out, char why[TI_CLI_WHY_MAX])
{
    struct ti_policy_text policy;

    if (strcmp (text, POLICY_OF_FILE) == 0) {
        *out = (struct policy){.name = text, .is_of_file = true, .pick = TIED_PICK_INFORMED};
        tied_policy_init (&out->settings);
        return 0;
    }
    int rc = ti_policy_parse (text, &grammar, &policy, why);

    if (rc)
        return rc;
    *out = (struct policy){.name = text, .pick = policy.pick, .settings = policy.settings};
    return 0;
}
