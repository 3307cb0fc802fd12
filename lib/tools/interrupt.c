/* SPDX-License-Identifier: MIT */
#include "interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

/* Read by several threads; without a lock in the handler. */
static atomic_int interrupted_by;

static void on_signal (int number)
{
    atomic_store (&interrupted_by, number);
}

static void catch_one (int number)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    struct sigaction before;

    (void)sigemptyset (&action.sa_mask);
    action.sa_flags |= (int)SA_RESETHAND;
    /* Who ignores it for us, as nohup does, goes on to do so. */
    if (sigaction (number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        (void)sigaction (number, &action, NULL);
}

void ti_interrupt_catch (bool with_hangup)
{
    catch_one (SIGINT);
    catch_one (SIGTERM);
    if (with_hangup)
        catch_one (SIGHUP);
}

bool ti_interrupted (void)
{
    return atomic_load (&interrupted_by) != 0;
}

int ti_interrupt_end (int code)
{
    const int number = atomic_load (&interrupted_by);

    if (number == 0)
        return code;
    (void)signal (number, SIG_DFL);
    (void)raise (number);
    return code;
}
