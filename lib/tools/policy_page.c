/* SPDX-License-Identifier: MIT */
/* What cannot be said in a table, then the table itself. */
#include "policy_page.h"

#include <tied/policy.h>

#include "policy/policy_file.h"
#include "policy/policy_schema.h"
#include "tools/schema_page.h"

static const char head[] =
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
    "- **Shadow**: with `shadow: true` nothing extra is sent, and `shadow_tied`, `shadow_hedged`,\n"
    "  `shadow_won` and `shadow_saved_us` count what would have been: a hedge would have won if "
    "its "
    "call\n"
    "  was pending for longer after it than half of all calls take. `tied-client advise` says what "
    "would\n"
    "  come of it.\n"
    "- **`auto` in full queues**: where calls wait, all are late, and hedges of those that wait "
    "add "
    "to\n"
    "  the load. A call that is known to *run*, and for longer than most executions take, is "
    "another\n"
    "  matter: its hedge goes to the head of the queue, and ends it, if its handler obeys a "
    "cancel; "
    "that\n"
    "  makes less work than it costs. So `auto` sends these whatever latencies say (`relief_ms`,\n"
    "  `relieved` in the counters), within `extra_load`, and leaves half of `burst` to them.\n"
    "\n";

static const char refusals[] =
    "my.yaml:4:5: unknown key \"hegde\" in methods.search: did you mean \"hedge\"?\n"
    "my.yaml:3:17: methods.*.extra_load: 120% is out of range [0%, 100%]\n";

static const char values[] =
    "- **share**: `5%`, or `0.05`; no finer than a millionth.\n"
    "- **whole**, **number**: without quotes; never negative; a number no finer than a "
    "thousandth.\n"
    "- Inside `{ }` and `[ ]` a comma ends a YAML value: write `{hedge: \"min(p99,50ms)\"}`.\n"
    "- Brackets: `[0%, 100%]` holds both.\n";

int ti_policy_print_page (FILE *file)
{
    struct tied_policy defaults;
    tied_policy_init (&defaults);
    ti_schema_print_title ("Policy files", "lib/policy/policy_schema.c", file);
    fputs (head, file);
    fputs ("## Errors\n\n", file);
    ti_schema_print_refusals ("A file that is wrong changes nothing and is refused", refusals,
                              file);
    ti_schema_print_values (values, file);
    fputs ("## Keys\n\n", file);
    return ti_schema_print_tables (&ti_policy_schema, &defaults, file);
}
