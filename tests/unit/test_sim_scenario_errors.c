/* SPDX-License-Identifier: MIT */
/*
 * Scenarios that are refused: each kind of error with its exact line, position included, and
 * thousands of seeded mutations of valid texts, which are either read or refused with one line.
 */
#include "check.h"

#include "base/util.h"
#include "scenario/read.h"

#define P "\npolicies: [single]\n"

struct refusal {
    const char *text, *why;
};

/* What is not a small plain YAML map. */
static const struct refusal of_the_text[] = {
    {"", "t.yaml:1:1: there is nothing in it"},
    {"# only this\n", "t.yaml:1:1: there is nothing in it"},
    {"---\n", "t.yaml:1:1: there is nothing in it"},
    {"just text", "t.yaml:1:1: a scenario is a map of keys and values: write key: value"},
    {"[1, 2]", "t.yaml:1:1: a scenario is a map of keys and values: write key: value"},
    {"load: 0.5\nload: 0.6\n", "t.yaml:2:1: key \"load\" is there twice: first in line 1"},
    {"{load: 1, clients: 2, \"load\": 1}",
     "t.yaml:1:23: key \"load\" is there twice: first in line 1"},
    {"load: 0.5\n---\nload: 0.6\n", "t.yaml:2:1: a second document: a file has one"},
    {"policies: &a [single]", "t.yaml:1:11: an anchor: there are no aliases here"},
    {"policies: *a", "t.yaml:1:11: an alias: write the value out"},
    {"load: !!float 0.5", "t.yaml:1:7: a tag: the key decides what its value is"},
    {"%TAG !a! tag:a,\n---\nload: 1", "t.yaml:1:1: a %TAG directive: there are no tags here"},
    {"load:\n\t0.5\n", "t.yaml:2:1: a tab: indent with blanks"},
    {"? [a, b]\n: 1", "t.yaml:1:3: a key is one word"},
    {"load: 0.5\nname: caf\xe9\n", "t.yaml:2:10: not UTF-8 here: save the file as UTF-8"},
    {"name: caf\xc3\xa9 \xc0\x80\n", "t.yaml:1:12: not UTF-8 here: save the file as UTF-8"},
    {"name: a\x01\n", "t.yaml:1:8: a control character"},
    {"name: \"a\\0b\"\n", "t.yaml:1:7: a text with a NUL inside"},
    {"x: [[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]",
     "t.yaml:1:15: maps and lists are nested deeper than 12"},
    {"load: [1,\n", "t.yaml:2:1: not YAML: while parsing a flow node: did not find expected node "
                    "content"},
};

/* What is not a value of its key's type, or is out of its range. */
static const struct refusal of_values[] = {
    {"load: 1.7" P, "t.yaml:1:7: load: 1.7 is out of range (0, 1.5]"},
    {"load: 0" P, "t.yaml:1:7: load: 0 is out of range (0, 1.5]"},
    {"load: 1e2" P, "t.yaml:1:7: load: 1e2 is out of range (0, 1.5]"},
    {"load: -1" P, "t.yaml:1:7: load: \"-1\" is negative: give a number in (0, 1.5]"},
    {"load: .nan" P, "t.yaml:1:7: load: \".nan\" is not a number: give a number in (0, 1.5]"},
    {"load: NaN" P, "t.yaml:1:7: load: \"NaN\" is not a number: give a number in (0, 1.5]"},
    {"load: .inf" P, "t.yaml:1:7: load: \".inf\" is not a number: give a number in (0, 1.5]"},
    {"load: 1e" P, "t.yaml:1:7: load: \"1e\" is not a number: give a number in (0, 1.5]"},
    {"load: \"0.7\"" P, "t.yaml:1:7: load: a text, not a value: write it without quotes"},
    {"load: [1]" P, "t.yaml:1:7: load: one value is wanted here, not a list"},
    {"load: {a: 1}" P, "t.yaml:1:7: load: one value is wanted here, not a map"},
    {"load:" P, "t.yaml:1:6: load: has no value"},
    {"load: ~" P, "t.yaml:1:7: load: has no value"},
    {"clients: 1.5" P,
     "t.yaml:1:10: clients: \"1.5\" is not a number: give a whole number in [1, 4096]"},
    {"clients: 99999999999999999999" P,
     "t.yaml:1:10: clients: 99999999999999999999 is out of range [1, 4096]"},
    {"replicas: 0" P, "t.yaml:1:11: replicas: 0 is out of range [1, 16384]"},
    {"replicas:\n  count: 0" P, "t.yaml:2:10: replicas.count: 0 is out of range [1, 16384]"},
    {"network: {delay: 5}" P,
     "t.yaml:1:18: network.delay: \"5\" has no unit: give a duration such as 5ms in [0s, 10s]"},
    {"network: {delay: 11s}" P, "t.yaml:1:18: network.delay: 11s is out of range [0s, 10s]"},
    {"network: {loss: 100%}" P, "t.yaml:1:17: network.loss: 100% is out of range [0, 1)"},
    {"rate: 0/s" P, "t.yaml:1:7: rate: 0/s is out of range (0, 1e+09]"},
    {"rate: 5ms" P,
     "t.yaml:1:7: rate: \"5ms\" has an unknown unit: give a rate such as 500/s in (0, 1e+09]"},
    {"shuffle_ties: yes" P,
     "t.yaml:1:15: shuffle_ties: \"yes\" is unknown: write one of false, true"},
    {"arrivals: poison" P, "t.yaml:1:11: arrivals: \"poison\" is unknown: did you mean "
                           "\"poisson\"?"},
    {"service: expo(3ms)" P,
     "t.yaml:1:10: service: \"expo\" is not a distribution; did you mean exp?"},
    {"arrivals: {kind: closed, think: uniform(1ms,2ms)}" P,
     "t.yaml:1:33: arrivals.think: \"uniform(1ms\" is cut at its comma: inside { } and [ ] "
     "write it in quotes"},
    {"policies: [single, tied+hedge:min(p99,50ms)]",
     "t.yaml:1:20: policies[1]: \"tied+hedge:min(p99\" is cut at its comma: inside { } and [ ] "
     "write it in quotes"},
    {"service: lognormal(10ms" P,
     "t.yaml:1:10: service: lognormal takes 2 values in parentheses, as in "
     "lognormal(10ms,20ms)"},
    {"sweep: [0.5, 0.7, 0.5]" P, "t.yaml:1:8: sweep: load 0.5 is there twice: give each once"},
    {"\xef\xbb\xbfload: 7" P, "t.yaml:1:7: load: 7 is out of range (0, 1.5]"},
    {"\xef\xbb\xbf\xef\xbb\xbfload: 7" P,
     "t.yaml:1:2: a byte order mark in the middle of the text"},
    {"name: \"a\\tb\"" P, "t.yaml:1:7: name: one line without control characters is wanted"},
    {"name: \"a\\eb\"" P, "t.yaml:1:7: name: one line without control characters is wanted"},
    {"name: 1234567890123456789012345678901234567890123456789" P,
     "t.yaml:1:7: name: is longer than 47 bytes"},
};

/* Keys that are unknown, missing, or without effect; lists and maps of the wrong shape. */
static const struct refusal of_keys[] = {
    {"laod: 1" P, "t.yaml:1:1: unknown key \"laod\": did you mean \"load\"?"},
    {"policies:\n  - single\n  - {kind: tied, stager: 1ms}",
     "t.yaml:3:18: unknown key \"stager\" in policies[1]: did you mean \"stagger\"?"},
    {"jitter: {zzz: 1}" P, "t.yaml:1:10: unknown key \"zzz\" in jitter: there are share, factor"},
    {"load: 1", "t.yaml:1:1: \"policies\" is missing"},
    {"jitter: {factor: 15}" P, "t.yaml:1:9: jitter: \"share\" is missing"},
    {"jitter: {share: 1%}" P, "t.yaml:1:9: jitter: \"factor\" is missing"},
    {"copies: sx" P, "t.yaml:1:9: copies: \"slowdown\" is missing: kind sx needs it"},
    {"arrivals: {kind: trace}" P,
     "t.yaml:1:11: arrivals: \"file\" is missing: kind trace needs it"},
    {"arrivals: {users: 3}" P,
     "t.yaml:1:12: arrivals.users: has no effect with kind poisson, only with closed"},
    {"policies: [{stagger: 1ms}]", "t.yaml:1:12: policies[0]: \"kind\" is missing"},
    {"policies: [{kind: hedge, stagger: 1ms}]",
     "t.yaml:1:26: policies[0].stagger: has no effect with kind hedge, only with tied, park, "
     "exclusive, tied-hedge"},
    {"policies: tied", "t.yaml:1:11: policies: a list is wanted: write [...]"},
    {"policies: []", "t.yaml:1:11: policies: 0 items are out of range [1, 16]"},
    {"network: 5ms" P, "t.yaml:1:10: network: a map of values is wanted here"},
    {"copies: {kind: sx, slowdown: [[1, 0.5, 3]]}" P,
     "t.yaml:1:31: copies.slowdown[0]: 2 values are wanted here, not 3"},
    {"copies: {kind: sx, slowdown: [1]}" P,
     "t.yaml:1:31: copies.slowdown[0]: a list of values is wanted here"},
    {"published: [{policy: single}]" P, "t.yaml:1:13: published[0]: \"value\" is missing"},
};

static const struct refusal of_policies[] = {
    {"policies: [tide]", "t.yaml:1:12: policies[0]: \"tide\" is no policy: did you mean \"tied\"?"},
    {"policies: [single, single]", "t.yaml:1:20: policies[1]: the name single is that of "
                                   "policies[0] already: give another one"},
    {"policies: [jsq(2]", "t.yaml:1:12: policies[0]: the parenthesis is not closed: write jsq(2)"},
    {"policies: [jsq(0)]", "t.yaml:1:12: policies[0]: \"0\" is no number from 1 to 64"},
    {"policies: [tied(2)]", "t.yaml:1:12: policies[0]: tied takes no number in parentheses"},
    {"policies: [jsq(11)]", "t.yaml:1:12: policies[0]: d is 11, but there are 10 replicas"},
    {"policies: ['single:1ms']", "t.yaml:1:12: policies[0]: single has no stagger"},
    {"policies: ['tied:1']",
     "t.yaml:1:12: policies[0]: stagger \"1\" has no unit: write a duration "
     "like 1ms, up to 1h"},
    {"policies: ['clone+hedge:1ms']",
     "t.yaml:1:12: policies[0]: a hedge is added to single or tied, not to clone"},
    {"policies: ['tied+hedge']",
     "t.yaml:1:12: policies[0]: \"hedge\" is unknown: write +hedge:10ms or +hedge:auto"},
    {"policies: [single/keep]", "t.yaml:1:12: policies[0]: single has no losers to keep"},
    {"policies: [c3/random]", "t.yaml:1:12: policies[0]: c3 has a choice of its own"},
    {"policies: [tied/10ms]", "t.yaml:1:12: policies[0]: tied sends no copy later: a delay belongs "
                              "to hedge or tied-hedge"},
    {"policies: [{kind: hedge, hedge: p100}]",
     "t.yaml:1:33: policies[0].hedge: \"p100\" is no delay: write a percentile such as p95, or a "
     "duration in [0s, 1h]"},
};

/* What does not hold between values. */
static const struct refusal of_the_whole[] = {
    {"load: 0.5\nrate: 3/s" P, "t.yaml:2:7: rate: there is load as well: give one of them"},
    {"arrivals: closed\nload: 0.5" P,
     "t.yaml:2:7: load: has no effect: in a closed loop users and think decide"},
    {"arrivals: closed\nsweep: [0.5]" P,
     "t.yaml:2:8: sweep: a closed loop has no load to run through: remove it"},
    {"fan_out: {calls: 3, needed: 4}" P, "t.yaml:1:29: fan_out.needed: 4 answers of 3 calls"},
    {"copies: {kind: sx, slowdown: [[1, .5], [2, .4]]}" P,
     "t.yaml:1:30: copies.slowdown: the shares sum to 0.9 instead of 1"},
    {"replicas: {vary: {every: 1s, factors: [[1, .5]]}}" P,
     "t.yaml:1:39: replicas.vary.factors: the shares sum to 0.5 instead of 1"},
    {"copies: identical\ncorrelation: 0.3" P,
     "t.yaml:2:14: correlation: has no effect unless copies are independent: remove it, or set it "
     "to 0"},
    {"replicas: {count: 3, slow: {count: 4, factor: 2}}" P,
     "t.yaml:1:36: replicas.slow.count: 4 of 3 replicas"},
    {"replicas: {pause: {gap: 1s}}" P,
     "t.yaml:1:19: replicas.pause: gap and length belong together"},
    {"replicas: {pause: {gap: 1s, length: 1s, log: x}}" P,
     "t.yaml:1:46: replicas.pause.log: there is gap or length as well: give one or the other"},
    {"replicas: {subset: 20}" P, "t.yaml:1:20: replicas.subset: 20 of 10 replicas"},
    {"replicas: {subset: 3}" P,
     "t.yaml:1:20: replicas.subset: 10 replicas do not make whole groups of 3"},
    {"replicas: {subset: 5}" P,
     "t.yaml:1:20: replicas.subset: 2 groups but 1 clients: some groups would have none"},
    {"replicas: 5000" P,
     "t.yaml:1:11: replicas: a client knows at most 4096 replicas: give subset"},
    {"service: {dist: exp(1ms), table: x}" P,
     "t.yaml:1:34: service.table: there is dist as well: give one of them"},
    {"service: fixed(0s)" P,
     "t.yaml:1:10: service: takes no time, so no rate meets the load: give rate"},
    {"published: [{policy: tied, value: 1ms}]" P,
     "t.yaml:1:22: published[0].policy: no policy has the name tied"},
    {"extends: demoo", "t.yaml:1:10: extends: \"demoo\" is no preset, and as a file: No such file "
                       "or directory; did you mean \"demo\"?"},
    {"extends: [demo]", "t.yaml:1:10: extends: the name of a preset or file is wanted"},
    {"extends: demo\nreplicas: {slow: {count: 4, factor: 2}}",
     "t.yaml:2:26: replicas.slow.count: 4 of 3 replicas"},
};

static void check_refusals (const struct refusal *refusals, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct sim_scenario scenario;
        char why[SIM_WHY_MAX] = "";
        int rc = sim_scenario_read_text ("t.yaml", refusals[i].text, strlen (refusals[i].text),
                                         &scenario, why);
        CHECK_STR (why, refusals[i].why);
        CHECK_I64 (rc, <, 0);
    }
}

#define CHECK_REFUSALS(table) check_refusals (table, sizeof (table) / sizeof (table)[0])

static void texts_that_are_no_plain_map_are_refused (void **state)
{
    (void)state;
    CHECK_REFUSALS (of_the_text);
}

static void values_of_the_wrong_type_or_range_are_refused (void **state)
{
    (void)state;
    CHECK_REFUSALS (of_values);
}

static void unknown_missing_and_idle_keys_are_refused (void **state)
{
    (void)state;
    CHECK_REFUSALS (of_keys);
}

static void policies_that_make_no_sense_are_refused (void **state)
{
    (void)state;
    CHECK_REFUSALS (of_policies);
}

static void values_that_contradict_each_other_are_refused (void **state)
{
    (void)state;
    CHECK_REFUSALS (of_the_whole);
}

/* @return a text of `count` times `piece` after `head` */
static char *repeat (const char *head, const char *piece, size_t count, const char *tail)
{
    size_t length = strlen (piece), size = strlen (head) + count * length + strlen (tail) + 1;
    char *text = malloc (size), *at = text;
    CHECK_TRUE (text != NULL);
    memcpy (at, head, strlen (head));
    at += strlen (head);
    for (size_t i = 0; i < count; i++, at += length)
        memcpy (at, piece, length);
    memcpy (at, tail, strlen (tail) + 1);
    return text;
}

static void check_end (char *text, const char *expected)
{
    struct sim_scenario scenario;
    char why[SIM_WHY_MAX] = "";
    CHECK_I64 (sim_scenario_read_text ("t.yaml", text, strlen (text), &scenario, why), <, 0);
    CHECK_STR (why, expected);
    free (text);
}

static void size_and_counts_are_bounded (void **state)
{
    (void)state;
    check_end (repeat ("#", "x", SIM_SCENARIO_BYTES_MAX, ""), "t.yaml: is larger than 1 MiB");
    check_end (repeat ("load: [", "1,", 30000, "1]"),
               "t.yaml:1:40004: more than 20000 values in one file");
    check_end (repeat ("", "? ", 400000, ""), "t.yaml:1:3: a key is one word");
    check_end (repeat ("a: ", "[", 500000, ""),
               "t.yaml:1:15: maps and lists are nested deeper than 12");
    char *keys = malloc (300 * 8 + 1);
    CHECK_TRUE (keys != NULL);
    for (int i = 0; i < 300; i++)
        snprintf (keys + i * 8, 9, "k%03d: 1\n", i);
    check_end (keys, "t.yaml:257:1: more than 256 keys in one map");
}

static void a_scenario_that_extends_itself_ends (void **state)
{
    (void)state;
    char folder[] = "/tmp/tied-circle-XXXXXX", path[128], why[SIM_WHY_MAX] = "";
    struct sim_scenario scenario;
    CHECK_TRUE (mkdtemp (folder) != NULL);
    snprintf (path, sizeof path, "%s/self.yaml", folder);
    FILE *file = fopen (path, "w");
    CHECK_TRUE (file != NULL);
    fputs ("extends: self.yaml\n", file);
    CHECK_I64 (fclose (file), ==, 0);
    int rc = sim_scenario_load (path, &scenario, why);
    (void)remove (path);
    CHECK_I64 (remove (folder), ==, 0);
    CHECK_I64 (rc, <, 0);
    CHECK_TRUE (strstr (why, "self.yaml:1:10: extends: more than 8 levels") != NULL);
}

static void extends_goes_as_deep_as_it_says (void **state)
{
    (void)state;
    char folder[] = "/tmp/tied-chain-XXXXXX", path[128], why[SIM_WHY_MAX] = "";
    struct sim_scenario scenario;
    CHECK_TRUE (mkdtemp (folder) != NULL);
    for (int i = 0; i < SIM_EXTENDS_MAX; i++) {
        snprintf (path, sizeof path, "%s/%d.yaml", folder, i);
        FILE *file = fopen (path, "w");
        CHECK_TRUE (file != NULL);
        if (i == 0)
            fputs ("policies: [central]\nclients: 3\n", file);
        else
            fprintf (file, "extends: %d.yaml\nload: 0.%d\n", i - 1, i);
        CHECK_I64 (fclose (file), ==, 0);
    }
    int rc = sim_scenario_load (path, &scenario, why);
    for (int i = 0; i < SIM_EXTENDS_MAX; i++) {
        snprintf (path, sizeof path, "%s/%d.yaml", folder, i);
        (void)remove (path);
    }
    CHECK_I64 (remove (folder), ==, 0);
    CHECK_STR (why, "");
    CHECK_I64 (rc, ==, 0);
    CHECK_U64 (scenario.clients, ==, 3);
    CHECK_DBL (scenario.workload.load, ==, 0.7);
    sim_scenario_deinit (&scenario);
}

static void what_cannot_be_opened_is_named (void **state)
{
    (void)state;
    struct sim_scenario scenario;
    char why[SIM_WHY_MAX] = "";
    CHECK_I64 (sim_scenario_load ("spead", &scenario, why), <, 0);
    CHECK_STR (why, "\"spead\" is no preset, and as a file: No such file or directory; did you "
                    "mean \"speed\"?");
    CHECK_I64 (sim_scenario_read_file ("/tmp", &scenario, why), <, 0);
    CHECK_STR (why, "/tmp: Is a directory");
}

static void the_position_survives_a_long_name (void **state)
{
    (void)state;
    struct sim_scenario scenario;
    char *name = repeat ("", "folder/", 100, "the-end.yaml"), why[SIM_WHY_MAX] = "";
    CHECK_I64 (sim_scenario_read_text (name, "load: 9", 7, &scenario, why), <, 0);
    CHECK_TRUE (strstr (why, "the-end.yaml:1:7: load: 9 is out of range (0, 1.5]") != NULL);
    CHECK_TRUE (strncmp (why, "...", 3) == 0);
    free (name);
}

static uint64_t random_state;

static size_t below (size_t bound)
{
    random_state += UINT64_C (0x9e3779b97f4a7c15);
    return (size_t)(ti_mix (random_state) % bound);
}

/* Flip, overwrite, cut or repeat a few bytes. */
static size_t mutate (char *text, size_t size, size_t capacity)
{
    static const char tokens[] = "{}[]:,-?&*!|>'\"#%@`~ \n\t0123456789.eamsu\x80\xff";
    for (size_t n = 1 + below (4); n > 0 && size > 1; n--) {
        size_t at = below (size), length = 1 + below (size - at > 12 ? 12 : size - at);
        switch (below (4)) {
        case 0:
            text[at] = (char)(text[at] ^ (1 << below (8)));
            break;
        case 1:
            text[at] = tokens[below (sizeof tokens - 1)];
            break;
        case 2:
            memmove (text + at, text + at + length, size - at - length);
            size -= length;
            break;
        case 3:
            if (size + length <= capacity) {
                memmove (text + at + length, text + at, size - at);
                size += length;
            }
            break;
        }
    }
    return size;
}

static void mutated_texts_are_read_or_refused_with_one_line (void **state)
{
    (void)state;
    char text[4096];
    uint64_t read = 0, refused = 0, rounds = check_scale (300);
    for (uint32_t i = 0; i < sim_preset_count (); i++)
        for (uint64_t round = 0; round < rounds; round++) {
            const struct sim_preset *preset = sim_preset_get (i);
            struct sim_scenario scenario;
            char why[SIM_WHY_MAX] = "";
            CHECK_U64 (preset->size, <, sizeof text);
            memcpy (text, preset->text, preset->size);
            random_state = i * UINT64_C (1000000) + round;
            size_t size = mutate (text, preset->size, sizeof text);
            /* Exactly as large as it is, so that a byte too far is seen. */
            char *exact = malloc (size);
            CHECK_TRUE (exact != NULL);
            memcpy (exact, text, size);
            if (sim_scenario_read_text ("m.yaml", exact, size, &scenario, why) == 0) {
                read++;
                sim_scenario_deinit (&scenario);
            } else {
                refused++;
                CHECK_TRUE (strncmp (why, "m.yaml:", 7) == 0 && !strpbrk (why, "\r\n"));
            }
            free (exact);
        }
    CHECK_U64 (read, >, 0);
    CHECK_U64 (refused, >, 0);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (texts_that_are_no_plain_map_are_refused),
        cmocka_unit_test (values_of_the_wrong_type_or_range_are_refused),
        cmocka_unit_test (unknown_missing_and_idle_keys_are_refused),
        cmocka_unit_test (policies_that_make_no_sense_are_refused),
        cmocka_unit_test (values_that_contradict_each_other_are_refused),
        cmocka_unit_test (size_and_counts_are_bounded),
        cmocka_unit_test (a_scenario_that_extends_itself_ends),
        cmocka_unit_test (extends_goes_as_deep_as_it_says),
        cmocka_unit_test (what_cannot_be_opened_is_named),
        cmocka_unit_test (the_position_survives_a_long_name),
        cmocka_unit_test (mutated_texts_are_read_or_refused_with_one_line),
    };
    return cmocka_run_group_tests_name ("sim_scenario_errors", tests, NULL, NULL);
}
