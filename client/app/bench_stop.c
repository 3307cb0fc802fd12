/* SPDX-License-Identifier: MIT */
/*
 * A measurement that is interrupted says what it has measured, and then ends by the signal, so that
 * a shell that runs it in a loop ends as well. A second signal ends it at once.
 */
#include <signal.h>
#include <stddef.h>

#include "bench.h"

static volatile sig_atomic_t stopped_by;

static void on_stop (int number)
{
    stopped_by = number;
}

static void catch_one (int number)
{
    struct sigaction action = {.sa_handler = on_stop, .sa_flags = SA_RESTART};
    struct sigaction before;

    (void)sigemptyset (&action.sa_mask);
    action.sa_flags |= (int)SA_RESETHAND;
    /* Who ignores it for us, as nohup does, goes on to do so. */
    if (sigaction (number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        (void)sigaction (number, &action, NULL);
}

void bench_catch_stops (const struct bench *self)
{
    catch_one (SIGINT);
    catch_one (SIGTERM);
    /* Of a policy file it asks for something else. */
    if (!self->app->policy_file)
        catch_one (SIGHUP);
}

bool bench_is_stopped (void)
{
    return stopped_by != 0;
}

int app_end (int code)
{
    if (!stopped_by)
        return code;
    (void)signal (stopped_by, SIG_DFL);
    (void)raise (stopped_by);
    return TI_EXIT_FAILED;
}
