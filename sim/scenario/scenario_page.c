/* SPDX-License-Identifier: MIT */
/* The page docs/scenario.md: what cannot be said in a table, then the table itself. */
#include "read.h"

#include "scenario_form.h"
#include "tools/schema_page.h"

#include <tied/error.h>

static const char head[] =
    "A scenario says what `tied-sim` simulates: load, service times, replicas, network, policies, "
    "and\n"
    "how much of it is run. It is a YAML file (JSON is YAML) of at most 1 MiB. Every key has a\n"
    "default but `policies`:\n"
    "\n"
    "```yaml\n"
    "policies: [single, tied]\n"
    "```\n"
    "\n"
    "```yaml\n"
    "name: two-speeds\n"
    "title: every fourth replica is half as fast\n"
    "load: 0.6\n"
    "service: lognormal(10ms,20ms)\n"
    "replicas:\n"
    "  count: 20\n"
    "  workers: 2\n"
    "  speeds: [1, 1, 1, 0.5]\n"
    "clients: 4\n"
    "network: {delay: 100us, extra: exp(20us)}\n"
    "policies:\n"
    "  - single\n"
    "  - tied\n"
    "  - {name: tied-8, kind: tied, samples: 8}\n"
    "  - tied-hedge/p95\n"
    "  - central\n"
    "amount: {calls: 20000, replications: 20, precision: 2%}\n"
    "sweep: [0.3, 0.5, 0.7, 0.9]\n"
    "```\n"
    "\n";

static const char refusals[] =
    "my.yaml:9:7: unknown key \"stager\" in policies[1]: did you mean \"stagger\"?\n"
    "my.yaml:3:7: load: 1.7 is out of range (0, 1.5]\n";

static const char values[] =
    "- **rate**: `500`, `500/s`, `1.5k/s`, `90/m`.\n"
    "- **share**: a number such as `0.02`, or `2%`.\n"
    "- **whole**, **number**: without quotes; never negative.\n"
    "- **distribution** of durations: `fixed(T)`, `exp(MEAN)`, `shifted(OFFSET,MEAN)` (OFFSET and "
    "an\n"
    "  exponential on top), `uniform(LOW,HIGH)`, `bimodal(SHORT,LONG,P)` (LONG with probability "
    "P),\n"
    "  `steps(V1:P1,V2:P2,...)`, `h2(P,MEAN1,MEAN2)` (exponential of MEAN1 with probability P, "
    "else of\n"
    "  MEAN2), `hyper(MEAN,CV2)` (two exponentials, each half of the work), `lognormal(MEAN,SD)`,\n"
    "  `weibull(SCALE,SHAPE)`, `pareto(MIN,ALPHA)`, `bounded_pareto(MIN,MAX,ALPHA)`,\n"
    "  `gpareto(LOC,SCALE,SHAPE)`. No blanks. Inside `{ }` and `[ ]` a comma ends a YAML value: "
    "write\n"
    "  `{think: \"uniform(1ms,9ms)\"}`.\n"
    "- Brackets: `[0, 1)` holds 0 and does not hold 1.\n"
    "- Names of files are relative to the folder of the scenario.\n";

static const char words[] =
    "## Policies in one word\n"
    "\n"
    "`KIND[(D)][:STAGGER][+hedge:RULE[@SHARE]][/WORD]...`, as `tied-client bench --policy` has "
    "it,\n"
    "and more:\n"
    "\n"
    "| kind | what it does | may be followed by |\n"
    "|---|---|---|\n"
    "| `single` | one copy | `+hedge:RULE`, `/PICK`, `/governed` |\n"
    "| `tied` | two copies that know each other, the second after the stagger | `:STAGGER`, "
    "`+hedge:RULE`, `/PICK`, `/governed`, `/keep` |\n"
    "| `park` | tied; what would be dropped is kept until the starter has ended | `:STAGGER`, "
    "`/PICK` |\n"
    "| `exclusive` | tied; the second copy starts only by the first one's leave | `:STAGGER`, "
    "`/PICK` |\n"
    "| `hedge` | one copy, a further one after a delay that is known from the start | `/DELAY`, "
    "`/PICK`, `/keep` |\n"
    "| `tied-hedge` | a tied pair, a further copy after such a delay | "
    "`:STAGGER`, `/DELAY`, `/PICK`, "
    "`/keep` |\n"
    "| `clone` | two copies at once that know nothing of each other | `/PICK`, `/keep` |\n"
    "| `central` | reference: one queue before all workers, the floor | |\n"
    "| `jsq` | reference: shortest of D queues, perfectly informed | `(D)` |\n"
    "| `laedge` | reference: a coordinator that sends two copies while two replicas idle | |\n"
    "| `netclone` | reference: two copies when both sampled replicas idle, no cancel | |\n"
    "| `prequal` | reference: probes, hot and cold replicas | |\n"
    "| `prequal-rif` | reference: probes, fewest requests in flight | |\n"
    "| `c3` | reference: ranking by reported queue and rates | |\n"
    "| `ideal-cos`, `cos` | reference: D copies, the others vanish when one starts | `(D)` |\n"
    "| `ideal-coc`, `coc` | reference: D copies, the others vanish when one ends | `(D)` |\n"
    "\n"
    "PICK is `random`, `informed`, `round-robin`, or `affinity` where calls have `keys`; a tie is "
    "informed,\n"
    "everything else random unless said otherwise. RULE is what the library's clients take: a "
    "delay, a percentile that they "
    "learn\n"
    "while they run (`p95`), `min(p99,50ms)`, `max(...)`, `auto` or `never`; SHARE is the budget "
    "of "
    "such\n"
    "hedges, in percent of the calls. A rule that learns costs at most 5% and is governed unless "
    "said\n"
    "otherwise; one that is a delay has no budget (`@100%`) and no governor, unless given: "
    "`/governed`,\n"
    "`/ungoverned`. DELAY is a percentile of `single` in the same scenario (`p95`, the default), "
    "found by\n"
    "a run before the others, or a duration; it has no budget and no governor. STAGGER is a "
    "duration, or\n"
    "`auto` as without it. `keep` sends no cancel to the losers. D is 2 unless given. So "
    "`tied:1ms/random`,\n"
    "`single+hedge:auto@5%`, `tied+hedge:p95/ungoverned`, `hedge/10ms`, `hedge/p99`, `clone/keep`, "
    "`jsq(3)`, `single/informed` are policies, and their "
    "text\n"
    "is their name in reports.\n"
    "\n"
    "## extends\n"
    "\n"
    "`extends: netclone-exp25` begins with the values of that preset (or file), at most 8 levels "
    "deep.\n"
    "What this file says replaces them key by key, inside maps as well; a list is replaced as a "
    "whole.\n"
    "Published figures are kept only while nothing but name, title, policies, amount and sweep "
    "changes.\n"
    "\n"
    "## Keys\n"
    "\n";

static void print_presets (FILE *file)
{
    fputs ("\n## Presets\n\n`tied-sim list` shows them; their files are in `sim/presets`.\n\n"
           "| preset | |\n|---|---|\n",
           file);
    for (uint32_t i = 0; i < sim_preset_count (); i++)
        fprintf (file, "| `%s` | %s |\n", sim_preset_get (i)->name, sim_preset_get (i)->title);
}

int sim_schema_print_markdown (FILE *file)
{
    struct sim_form form = {.times = {.path = ""}};
    sim_scenario_init (&form.scenario);
    ti_schema_print_title ("Scenarios", "sim/scenario/scenario_schema.c", file);
    fputs (head, file);
    ti_schema_print_refusals ("A file that is wrong is refused", refusals, file);
    ti_schema_print_values (values, file);
    fputs (words, file);
    int rc = ti_schema_print_tables (&sim_scenario_schema, &form, file);
    sim_scenario_deinit (&form.scenario);
    print_presets (file);
    return rc;
}
