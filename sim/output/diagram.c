/* SPDX-License-Identifier: MIT */
/* The sequence diagram in text: a column for each actor, a line for each thing that happened. */
#include "output/diagram.h"

#include <string.h>

#include "base/util.h"
#include "output/internal.h"

#include <tied/error.h>

#define ACTORS_MAX 9
#define WIDTH      26 /* of a column */
#define LINE_MAX   (ACTORS_MAX * WIDTH + WIDTH)

/* The client first, then replicas as they come in. */
struct actors {
    int items[ACTORS_MAX];
    uint32_t count;
};

static uint32_t place_of (struct actors *actors, int actor)
{
    for (uint32_t i = 0; i < actors->count; i++)
        if (actors->items[i] == actor)
            return i;
    if (actors->count == ACTORS_MAX)
        return ACTORS_MAX - 1; /* no call of ours has so many copies */
    actors->items[actors->count] = actor;
    return actors->count++;
}

static void find_actors (const struct sim_explanation *explanation, struct actors *out)
{
    out->count = 0;
    for (uint32_t i = 0; i < explanation->notes_count; i++) {
        (void)place_of (out, explanation->notes[i].from);
        (void)place_of (out, explanation->notes[i].to);
    }
}

static void clear (char line[LINE_MAX], const struct actors *actors)
{
    memset (line, ' ', LINE_MAX);
    for (uint32_t i = 0; i < actors->count; i++)
        line[i * WIDTH] = '|';
}

static void put (char line[LINE_MAX], uint32_t at, const char *text)
{
    memcpy (line + at, text, ti_min (strlen (text), LINE_MAX - 1 - at));
}

static void show (FILE *file, const char *start, char line[LINE_MAX])
{
    uint32_t length = LINE_MAX - 1;

    while (length > 0 && line[length - 1] == ' ')
        length--;
    line[length] = '\0';
    fprintf (file, "%s%s\n", start, line);
}

/* An arrow with its label in it. */
static void draw_arrow (char line[LINE_MAX], uint32_t from, uint32_t to, const char *label)
{
    const uint32_t low = (from < to ? from : to) * WIDTH, high = (from < to ? to : from) * WIDTH;

    memset (line + low + 1, '-', high - low - 1);
    if (from < to)
        line[high - 1] = '>';
    else
        line[low + 1] = '<';
    put (line, from < to ? low + 3 : high - 3 - (uint32_t)strlen (label), label);
}

/* What is said of the call has no copy's number. */
static void name_note (const struct sim_note *note, char label[WIDTH])
{
    if (strstr (note->what, "CANCEL") || strcmp (note->what, "submits") == 0)
        snprintf (label, WIDTH, "%.22s", note->what);
    else if (strcmp (note->what, "queues") == 0)
        snprintf (label, WIDTH, "%s %u, depth %u", note->what, (unsigned)note->copy,
                  (unsigned)note->depth);
    else
        snprintf (label, WIDTH, "%.22s %u", note->what, (unsigned)note->copy);
}

static void write_note (const struct sim_note *note, struct actors *actors, FILE *file)
{
    const uint32_t from = place_of (actors, note->from), to = place_of (actors, note->to);
    char line[LINE_MAX], start[24], label[WIDTH];

    clear (line, actors);
    snprintf (start, sizeof start, "%10.3f  ", (double)note->at / 1e6);
    name_note (note, label);
    if (from != to)
        draw_arrow (line, from, to, label);
    else
        put (line, from * WIDTH + 2, label);
    show (file, start, line);
}

static void write_heading (struct actors *actors, FILE *file)
{
    char line[LINE_MAX], name[WIDTH];

    memset (line, ' ', sizeof line);
    for (uint32_t i = 0; i < actors->count; i++) {
        const int actor = actors->items[i];
        snprintf (name, sizeof name, "%s %d", actor < 0 ? "client" : "replica",
                  actor < 0 ? -1 - actor : actor);
        put (line, i * WIDTH, name);
    }
    show (file, "        ms  ", line);
}

static double ms (tied_duration_t ns)
{
    return (double)ns / 1e6;
}

static void write_parts (const struct sim_explanation *explanation, FILE *file)
{
    struct sim_explain_parts parts;

    if (!sim_explain_parts (explanation, &parts)) {
        fprintf (file, "No copy of the call answered it.\n");
        return;
    }
    fprintf (file,
             "Copy %u at replica %d answered. Of %.3f ms:\n"
             "  before it was sent %10.3f ms %5.1f %%\n"
             "  network            %10.3f ms %5.1f %%\n"
             "  waited in queue    %10.3f ms %5.1f %%\n"
             "  served             %10.3f ms %5.1f %%\n",
             (unsigned)explanation->winner, explanation->copies[explanation->winner].replica,
             ms (explanation->latency_ns), ms (parts.before_ns),
             100 * ms (parts.before_ns) / ms (explanation->latency_ns), ms (parts.network_ns),
             100 * ms (parts.network_ns) / ms (explanation->latency_ns), ms (parts.waited_ns),
             100 * ms (parts.waited_ns) / ms (explanation->latency_ns), ms (parts.served_ns),
             100 * ms (parts.served_ns) / ms (explanation->latency_ns));
}

static void write_other (const struct sim_explain_copy *copy, uint32_t number, FILE *file)
{
    fprintf (file, "Copy %u went to replica %d at %.3f ms", (unsigned)number, copy->replica,
             ms (copy->sent));
    if (copy->started != TIED_NEVER) {
        fprintf (file, ", waited %.3f ms behind %u that waited, started at %.3f ms",
                 ms (ti_time_sub (copy->started, copy->arrived)),
                 (unsigned)(copy->depth ? copy->depth - 1 : 0), ms (copy->started));
        if (copy->finished != TIED_NEVER)
            fprintf (file, " and ran for %.3f ms, in vain",
                     ms (ti_time_sub (copy->finished, copy->started)));
    } else if (copy->left != TIED_NEVER && strcmp (copy->why_left, "drops") == 0) {
        fprintf (file, ", waited %.3f ms behind %u that waited and was dropped at %.3f ms",
                 ms (ti_time_sub (copy->left, copy->arrived)),
                 (unsigned)(copy->depth ? copy->depth - 1 : 0), ms (copy->left));
    } else if (copy->left != TIED_NEVER) {
        fprintf (file, ", which %s it at %.3f ms", copy->why_left, ms (copy->left));
    } else {
        fprintf (file, " and did not start");
    }
    fputs (".\n", file);
}

int sim_diagram_write_text (const struct sim_diagram *self, FILE *file)
{
    const struct sim_explanation *explanation = self->explanation;
    struct actors actors;
    char ppm[SIM_PPM_MAX];
    uint32_t copies = 0;

    fprintf (file, "%s: %s of %s is request %llu of %llu answered ones, %.3f ms",
             self->scenario->name[0] ? self->scenario->name : "scenario",
             sim_format_ppm (self->ppm, ppm), self->policy->name,
             (unsigned long long)explanation->request, (unsigned long long)explanation->requests,
             ms (explanation->latency_ns));
    if (self->scenario->workload.fan_out > 1)
        fprintf (file, "; its call %llu ended last",
                 (unsigned long long)(explanation->call % self->scenario->workload.fan_out));
    if (explanation->hedge_ns != TIED_NEVER)
        fprintf (file, "; hedge after %.3f ms", ms (explanation->hedge_ns));
    fputs ("\n\n", file);
    find_actors (explanation, &actors);
    write_heading (&actors, file);
    for (uint32_t i = 0; i < explanation->notes_count; i++)
        write_note (&explanation->notes[i], &actors, file);
    if (explanation->notes_lost > 0)
        fprintf (file, "... and %llu more\n", (unsigned long long)explanation->notes_lost);
    fputc ('\n', file);
    write_parts (explanation, file);
    for (uint32_t i = 0; i < SIM_EXPLAIN_COPIES_MAX; i++) {
        copies += explanation->copies[i].is_sent;
        if (explanation->copies[i].is_sent && i != explanation->winner)
            write_other (&explanation->copies[i], i, file);
    }
    if (copies == 1)
        fputs ("There was no other copy.\n", file);
    return fflush (file) != 0 || ferror (file) ? TIED_ERR_SYSTEM : TIED_OK;
}
