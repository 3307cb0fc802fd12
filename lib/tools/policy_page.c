/* SPDX-License-Identifier: MIT */
/* What cannot be said in a table, then the table itself. */
#include "policy_page.h"

#include <tied/policy.h>

#include "policy/policy_file.h"
#include "policy/policy_schema.h"
#include "tools/schema_page.h"

static const char head[] =
    "# Policy files\n"
    "\n"
    "<!-- Printed from the table in lib/policy/policy_schema.c; a test compares. -->\n"
    "\n"
    "A policy file says, method by method, which calls get a second copy, when, and what that may\n"
    "cost. It is a YAML file (JSON is YAML) of at most 1 MiB and 256 methods; a\n"
    "client takes as many as its option methods_max says, 16 unless it is set, `\"*\"` among "
    "them.\n"
    "\n"
    "```yaml\n"
    "methods:\n"
    "  \"*\":                       # all methods that are not named; the quotes are needed\n"
    "    extra_load: 5%\n"
    "  search:\n"
    "    idempotent: true\n"
    "    hedge: auto\n"
    "  lookup:\n"
    "    idempotent: true\n"
    "    hedge: min(p99,50ms)\n"
    "    waits: [503, 100-199]\n"
    "    governor: {hold: 5s}\n"
    "  order: {mode: exclusive}\n"
    "  report: {}                 # none: one copy\n"
    "```\n"
    "\n"
    "**Absent inherits, `{}` means none.** A key that is absent has the value of `\"*\"`, and a "
    "key\n"
    "that is absent there has the default. An empty map switches off what it stands for: `hedge: "
    "{}`\n"
    "is never, `governor: {}` (or `off`) never stops anything, `waits: {}` waits for nothing, and "
    "a\n"
    "method that is `{}` has one copy: nothing of `\"*\"`. A list is inherited or replaced as a "
    "whole,\n"
    "`governor` key by key. Of `hedge_floor`, `hedge_initial` and `hedge_ceiling`, those that a "
    "method\n"
    "does not say itself give way to those that it says.\n"
    "\n"
    "**Declaration.** A method is sent twice only if it is declared `idempotent`, here or by the "
    "call,\n"
    "or if its mode is `exclusive`. What a call says itself goes before the file.\n"
    "\n"
    "## Use\n"
    "\n"
    "`tied_client_load_policies ()` reads a file, at the start or while calls are made: all of it, "
    "or\n"
    "nothing. Afterwards the settings are those of the file alone; methods that it does not name\n"
    "inherit from `\"*\"`. Calls that are under way keep what they have, and what was learned of "
    "a\n"
    "method, its budget and its governor's state stay. `tied-client bench --policies FILE` reads "
    "the\n"
    "file anew on SIGHUP. Change a file by renaming a complete new one over it: of one that is "
    "half\n"
    "written, what is there may be valid. `tied_client_policy ()` shows what a method has now,\n"
    "`tied_client_method ()` what came of it.\n"
    "\n"
    "- **Kill switch** of the whole client: `methods: {\"*\": {off: true}}` as the whole file, or\n"
    "  `tied_client_set_off ()`, which leaves the settings as they are.\n"
    "- **Canary**: with `canary: 10%` one call in ten may get extra copies.\n"
    "- **Shadow**: with `shadow: true` nothing extra is sent, and `shadow_tied`, `shadow_hedged`\n"
    "  and `shadow_saved_us` count what would have been. `tied-client advise` says what would come "
    "of it.\n"
    "\n";

/* In two parts: a compiler must take no longer texts. */
static const char rest[] =
    "## Errors\n"
    "\n"
    "A file that is wrong changes nothing and is refused with one line that says where:\n"
    "\n"
    "```\n"
    "my.yaml:4:5: unknown key \"hegde\" in methods.search: did you mean \"hedge\"?\n"
    "my.yaml:3:17: methods.*.extra_load: 120% is out of range [0%, 100%]\n"
    "```\n"
    "\n"
    "Anchors, aliases, tags, a key given twice, a second document and tabs as indent are refused.\n"
    "\n"
    "## Values\n"
    "\n"
    "- **duration**: a number and its unit, `300ns`, `50us`, `1.5ms`, `2s`, `5m`, `1h`; 0 is "
    "`0s`.\n"
    "- **share**: `5%`, or `0.05`; no finer than a millionth.\n"
    "- **whole**, **number**: without quotes; never negative; a number no finer than a "
    "thousandth.\n"
    "- Inside `{ }` and `[ ]` a comma ends a YAML value: write `{hedge: \"min(p99,50ms)\"}`.\n"
    "- Brackets: `[0%, 100%]` holds both.\n"
    "\n"
    "## Keys\n"
    "\n";

int ti_policy_print_page (FILE *file)
{
    struct tied_policy defaults;
    tied_policy_init (&defaults);
    fputs (head, file);
    fputs (rest, file);
    return ti_schema_print_tables (&ti_policy_schema, &defaults, file);
}
