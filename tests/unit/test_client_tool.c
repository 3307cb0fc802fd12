/* SPDX-License-Identifier: MIT */
/* tied-client as a person meets it: exit codes, the one line that names what is wrong, results. */
#include "check.h"
#include "echo_thread.h"
#include "zmq/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tied/replica.h>

struct run {
    int status;
    char out[65536]; /* stdout, then stderr behind it */
    uint32_t lines;
};

static void run_tool (struct run *run, const char *arguments)
{
    char command[4096];
    size_t size;
    FILE *pipe;

    snprintf (command, sizeof command, "'%s' %s 2>&1 </dev/null", TIED_CLIENT_PROGRAM, arguments);
    pipe = popen (command, "r");
    CHECK_PTR (pipe, !=, NULL);
    size = fread (run->out, 1, sizeof run->out - 1, pipe);
    run->out[size] = 0;
    run->status = WEXITSTATUS (pclose (pipe));
    run->lines = 0;
    for (const char *at = run->out; (at = strchr (at, '\n')) != NULL; at++)
        run->lines++;
}

static void a_wrong_command_line_is_named_in_one_line_with_exit_code_2 (void **state)
{
    static const struct {
        const char *arguments, *named;
    } cases[] = {
        {"", "command"},
        {"--frob", "--frob"},
        {"frob", "frob"},
        {"call", "METHOD"},
        {"call --replica a=tcp://127.0.0.1:1 ''", "METHOD"},
        {"call x", "--replica"},
        {"call --replica a x", "a"},
        {"call --replica a=nonsense x", "nonsense"},
        {"call --replica a=tcp://127.0.0.1:1 --mode triple x", "triple"},
        {"call --replica a=tcp://127.0.0.1:1 --timeout 5 x", "5"},
        {"call --replica a=tcp://127.0.0.1:1 --rate 5 x", "--rate"},
        {"bench --replica a=tcp://127.0.0.1:1", "--rate"},
        {"bench --replica a=tcp://127.0.0.1:1 --rate 0", "0"},
        {"bench --replica a=tcp://127.0.0.1:1 --rate 5 --outstanding 5", "--outstanding"},
        {"bench --replica a=tcp://127.0.0.1:1 --rate 5 --policy thrice", "thrice"},
        {"bench --replica a=tcp://127.0.0.1:1 --rate 5 --policy tied/best", "\"best\""},
        {"bench --replica a=tcp://127.0.0.1:1 --rate 5 --policy single:1ms",
         "single has no stagger"},
        {"bench --replica a=tcp://127.0.0.1:1 --rate 5 --policy tied:1", "\"1\""},
        {"bench --replica a=tcp://127.0.0.1:1 --rate 5 --policy tied:2h", "2h"},
        {"bench --replica a=tcp://127.0.0.1:1 --rate 5 --policy tied --policy tied", "tied"},
        {"bench --replica a=tcp://127.0.0.1:1 --rate 5 --slices 0", "0"},
    };
    static struct run run;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run_tool (&run, cases[i].arguments);
        if (run.status != 2 || run.lines != 1 || !strstr (run.out, cases[i].named))
            print_error ("tied-client %s\n%s", cases[i].arguments, run.out);
        CHECK_I64 (run.status, ==, 2);
        CHECK_U64 (run.lines, ==, 1);
        CHECK_PTR (strstr (run.out, cases[i].named), !=, NULL);
    }
}

static void a_replica_that_cannot_be_reached_is_named_with_exit_code_1 (void **state)
{
    static const char *const commands[] = {"call x", "ping", "stats", "bench --rate 10"};
    static struct run run;

    (void)state;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char arguments[256];

        snprintf (arguments, sizeof arguments, "%s --replica a=tcp://127.0.0.1:1 --timeout 100ms",
                  commands[i]);
        run_tool (&run, arguments);
        CHECK_I64 (run.status, ==, 1);
        CHECK_PTR (strstr (run.out, i == 0 ? "unavailable" : "replica a"), !=, NULL);
    }
}

static void call_prints_the_body_and_nothing_else (void **state)
{
    static struct run run;
    struct echo_thread echo;
    char arguments[512];

    (void)state;
    echo_thread_start (&echo, "a");
    snprintf (arguments, sizeof arguments, "call --timeout 60s --replica a=%s work 'two words'",
              echo.replica->endpoint);
    run_tool (&run, arguments);
    CHECK_I64 (run.status, ==, 0);
    CHECK_STR (run.out, "two words");
    /* An id given twice is said, and the call goes on with the first one. */
    snprintf (arguments, sizeof arguments,
              "call --timeout 60s --replica a=%s --replica a=tcp://127.0.0.1:1 work x",
              echo.replica->endpoint);
    run_tool (&run, arguments);
    CHECK_I64 (run.status, ==, 0);
    CHECK_PTR (strstr (run.out, "127.0.0.1:1"), !=, NULL);
    snprintf (arguments, sizeof arguments, "ping --timeout 60s --replica a=%s",
              echo.replica->endpoint);
    run_tool (&run, arguments);
    CHECK_I64 (run.status, ==, 0);
    CHECK_PTR (strstr (run.out, " up "), !=, NULL);
    echo_thread_stop (&echo);
}

static void fail_in_two_lines (tied_request_t *request, void *arg)
{
    (void)arg;
    CHECK_I64 (tied_request_fail (request, 7, "no such\norder", 13), ==, 0);
}

static void what_a_handler_says_of_its_error_is_shown_in_one_line (void **state)
{
    static struct run run;
    struct tied_replica_options options;
    tied_replica_t *replica;
    char arguments[512];

    (void)state;
    tied_replica_options_init (&options);
    options.id = "a";
    replica = tied_replica_new (&options);
    CHECK_PTR (replica, !=, NULL);
    CHECK_I64 (tied_replica_bind (replica, "tcp://127.0.0.1:*"), ==, 0);
    CHECK_I64 (tied_replica_handle (replica, "find", fail_in_two_lines, NULL), ==, 0);
    CHECK_I64 (tied_replica_start (replica), ==, 0);
    snprintf (arguments, sizeof arguments, "call --replica a=%s --timeout 20s find x",
              tied_replica_endpoint (replica));
    run_tool (&run, arguments);
    tied_replica_destroy (&replica);
    CHECK_I64 (run.status, ==, 1);
    CHECK_STR (run.out,
               "tied-client: call \"find\": app_error (status 7): \"no such\\x0aorder\"\n");
}

static void bench_measures_both_loops_and_writes_its_files (void **state)
{
    static const char *const loops[] = {"--rate 500", "--outstanding 3"};
    static struct run run;
    char directory[] = "/tmp/tied-client-XXXXXX";
    struct echo_thread echoes[2];
    char arguments[1024];
    char path[128];

    (void)state;
    CHECK_PTR (mkdtemp (directory), !=, NULL);
    echo_thread_start (&echoes[0], "a");
    echo_thread_start (&echoes[1], "b");
    for (int i = 0; i < 2; i++) {
        snprintf (arguments, sizeof arguments,
                  "bench --replica a=%s --replica b=%s %s --duration 200ms --warmup 20ms "
                  "--slices 2 --timeout 60s --policy single --policy tied:100us/random "
                  "--json %s/r.json --report %s/r.html",
                  echoes[0].replica->endpoint, echoes[1].replica->endpoint, loops[i], directory,
                  directory);
        run_tool (&run, arguments);
        if (run.status != 0)
            print_error ("%s", run.out);
        CHECK_I64 (run.status, ==, 0);
        CHECK_PTR (strstr (run.out, "tied:100us/random"), !=, NULL);
        CHECK_PTR (strstr (run.out, "Against single"), !=, NULL);
        snprintf (path, sizeof path, "%s/r.json", directory);
        CHECK_I64 (unlink (path), ==, 0);
        snprintf (path, sizeof path, "%s/r.html", directory);
        CHECK_I64 (unlink (path), ==, 0);
    }
    snprintf (arguments, sizeof arguments,
              "bench --replica a=%s --outstanding 1 --duration 10ms --warmup 1ms --slices 1 "
              "--timeout 60s --policy single --json %s/none/r.json",
              echoes[0].replica->endpoint, directory);
    run_tool (&run, arguments);
    CHECK_I64 (run.status, ==, 1);
    CHECK_PTR (strstr (run.out, "none/r.json"), !=, NULL);
    CHECK_I64 (rmdir (directory), ==, 0);
    echo_thread_stop (&echoes[0]);
    echo_thread_stop (&echoes[1]);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_wrong_command_line_is_named_in_one_line_with_exit_code_2),
        cmocka_unit_test (a_replica_that_cannot_be_reached_is_named_with_exit_code_1),
        cmocka_unit_test (call_prints_the_body_and_nothing_else),
        cmocka_unit_test (what_a_handler_says_of_its_error_is_shown_in_one_line),
        cmocka_unit_test (bench_measures_both_loops_and_writes_its_files),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
