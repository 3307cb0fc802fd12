/* SPDX-License-Identifier: MIT */
/* How far a long run has come; see app.h. */
#include <stdio.h>
#include <unistd.h>

#include "app.h"
#include "base/util.h"
#include "tools/wall.h"

/* Where nobody looks on, a line now and then says that it goes on. */
#define SHOW_EVERY_TERMINAL TIED_MS (200)
#define SHOW_EVERY_FILE     TIED_S (10)

void app_progress_init (struct app_progress *self, const struct app *app, const char *label)
{
    *self = (struct app_progress){.label = label,
                                  .is_quiet = app->is_quiet,
                                  .is_terminal = isatty (STDERR_FILENO) != 0,
                                  .count = 1,
                                  .start = ti_wall_now ()};
    self->shown_at = self->start;
}

void app_progress_begin (void *context, uint32_t index, uint32_t count)
{
    struct app_progress *self = context;
    self->index = index;
    self->count = count;
}

/* "1h 02m", "3m 20s", "12s" */
static void show_left (double seconds)
{
    unsigned long whole = (unsigned long)(seconds + 0.5);
    if (whole >= 3600)
        fprintf (stderr, "%luh %02lum", whole / 3600, whole / 60 % 60);
    else if (whole >= 60)
        fprintf (stderr, "%lum %02lus", whole / 60, whole % 60);
    else
        fprintf (stderr, "%lus", whole);
}

void app_progress_tell (void *context, uint64_t done, uint64_t all, tied_duration_t left)
{
    struct app_progress *self = context;
    tied_time_t now = ti_wall_now ();
    double part = all ? (double)done / (double)all : 0, elapsed = (double)(now - self->start);
    double share = (self->index + part) / self->count;
    if (self->is_quiet ||
        now - self->shown_at < (self->is_terminal ? SHOW_EVERY_TERMINAL : SHOW_EVERY_FILE))
        return;
    self->shown_at = now;
    self->is_shown = true;
    fprintf (stderr, "%s%s: %3.0f %%", self->is_terminal ? "\r" : "", self->label, 100 * share);
    if (share > 0) {
        /* One study knows its own budget; of several, the past tells. */
        double ns = self->count == 1 ? (double)left : elapsed / share * (1 - share);
        fputs (", about ", stderr);
        show_left (ns / 1e9);
        fputs (" left", stderr);
    }
    fputs (self->is_terminal ? "\033[K" : "\n", stderr);
    fflush (stderr);
}

void app_progress_end (struct app_progress *self)
{
    if (self->is_shown && self->is_terminal)
        fputs ("\r\033[K", stderr);
    self->is_shown = false;
}
