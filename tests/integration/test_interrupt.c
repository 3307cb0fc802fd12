/* SPDX-License-Identifier: MIT */
/* A long measurement that somebody ends: what has been measured is not lost. */
#include "cluster.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

/* Executions after which it is certain that calls are measured. */
#define RUNS_SEEN 20

struct scene {
    struct cluster cluster;
    char folder[32], json[64], record[64], pairs[2][80];
};

static void scene_open (struct scene *self)
{
    snprintf (self->folder, sizeof self->folder, "/tmp/tied-interrupt-XXXXXX");
    CHECK_PTR (mkdtemp (self->folder), !=, NULL);
    snprintf (self->json, sizeof self->json, "%s/r.json", self->folder);
    snprintf (self->record, sizeof self->record, "%s/r.csv", self->folder);
    cluster_run (&self->cluster, 2, "echo");
    for (int i = 0; i < 2; i++)
        snprintf (self->pairs[i], sizeof self->pairs[i], "%s=%s", self->cluster.nodes[i].id,
                  self->cluster.nodes[i].client);
}

static void scene_close (struct scene *self)
{
    cluster_close (&self->cluster);
    (void)unlink (self->json);
    (void)unlink (self->record);
    CHECK_I64 (rmdir (self->folder), ==, 0);
}

/* Until replica a has run that much more. */
static void await_runs (struct scene *self)
{
    cluster_await (&self->cluster, 0, "executed",
                   cluster_stat (&self->cluster, 0, "executed") + RUNS_SEEN);
}

static void check_json (const struct scene *self)
{
    json_error_t error;
    json_t *root = json_load_file (self->json, 0, &error);
    const json_t *first = json_array_get (json_object_get (root, "policies"), 0);

    CHECK_PTR (root, !=, NULL);
    CHECK_TRUE (json_is_true (json_object_get (root, "interrupted")));
    CHECK_I64 (json_integer_value (json_object_get (first, "calls")), >, 0);
    json_decref (root);
}

/* Whole lines, of which one is the heading. */
static void check_recording (const struct scene *self)
{
    char line[256];
    uint32_t lines = 0;
    FILE *file = fopen (self->record, "r");

    CHECK_PTR (file, !=, NULL);
    for (; fgets (line, sizeof line, file); lines++)
        CHECK_PTR (strchr (line, '\n'), !=, NULL);
    fclose (file);
    CHECK_U64 (lines, >, 1);
}

static void bench_says_what_it_has_measured_and_ends_by_the_signal (void **state)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct scene scene;

    (void)state;
    scene_open (&scene);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct process *bench = process_start ((const char *const[]){TIED_CLIENT_PROGRAM,
                                                                     "bench",
                                                                     "--replica",
                                                                     scene.pairs[0],
                                                                     "--replica",
                                                                     scene.pairs[1],
                                                                     "--timeout",
                                                                     "20s",
                                                                     "--rate",
                                                                     "200",
                                                                     "--warmup",
                                                                     "0s",
                                                                     "--slices",
                                                                     "1",
                                                                     "--duration",
                                                                     "1h",
                                                                     "--json",
                                                                     scene.json,
                                                                     "--record",
                                                                     scene.record,
                                                                     NULL});

        await_runs (&scene);
        process_signal (bench, signals[i]);
        CHECK_I64 (process_wait (bench), ==, -signals[i]);
        if (!strstr (process_output (bench), "note: interrupted after "))
            print_error ("%s%s", process_output (bench), process_errors (bench));
        CHECK_PTR (strstr (process_output (bench), "note: interrupted after "), !=, NULL);
        CHECK_PTR (strstr (process_output (bench), "note: tied: no call was made"), !=, NULL);
        check_json (&scene);
        check_recording (&scene);
        process_free (&bench);
    }
    scene_close (&scene);
}

static void advise_says_what_it_can_and_ends_by_the_signal (void **state)
{
    struct scene scene;
    struct process *advise;

    (void)state;
    scene_open (&scene);
    advise = process_start ((const char *const[]){
        TIED_CLIENT_PROGRAM, "advise", "--replica", scene.pairs[0], "--replica", scene.pairs[1],
        "--timeout", "20s", "--rate", "200", "--warmup", "0s", "--duration", "1h", NULL});
    await_runs (&scene);
    process_signal (advise, SIGINT);
    CHECK_I64 (process_wait (advise), ==, -SIGINT);
    CHECK_PTR (strstr (process_output (advise), "do not send second copies: "), !=, NULL);
    process_free (&advise);
    scene_close (&scene);
}

static void a_measurement_without_an_answer_says_why_and_fails (void **state)
{
    static const char *const commands[] = {"bench", "advise"};
    struct scene scene;

    (void)state;
    scene_open (&scene);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        struct process *process = process_start ((const char *const[]){
            TIED_CLIENT_PROGRAM, commands[i], "--replica", scene.pairs[0], "--replica",
            scene.pairs[1], "--timeout", "20s", "--outstanding", "1", "--warmup", "0s",
            "--duration", "20ms", "--method", "dance", NULL});

        CHECK_I64 (process_wait (process), ==, 1);
        CHECK_PTR (strstr (process_errors (process), "tied-client: no call of \"dance\" was "
                                                     "answered: "),
                   !=, NULL);
        CHECK_PTR (strstr (process_errors (process), " unimplemented\n"), !=, NULL);
        process_free (&process);
    }
    scene_close (&scene);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown (bench_says_what_it_has_measured_and_ends_by_the_signal,
                                   process_teardown),
        cmocka_unit_test_teardown (advise_says_what_it_can_and_ends_by_the_signal,
                                   process_teardown),
        cmocka_unit_test_teardown (a_measurement_without_an_answer_says_why_and_fails,
                                   process_teardown),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
