/* SPDX-License-Identifier: MIT */
/* Lines of transcript.h. */
#include "transcript.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"

struct line {
    char *buffer;
    size_t size, used;
};

static void add (struct line *line, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

static void add (struct line *line, const char *format, ...)
{
    va_list arguments;
    int wrote;

    va_start (arguments, format);
    wrote = vsnprintf (line->buffer + line->used, line->size - line->used, format, arguments);
    va_end (arguments);
    if (wrote > 0)
        line->used = ti_min (line->used + (size_t)wrote, line->size - 1);
}

const char *transcript_actor (int actor)
{
    static const char *const clients[NODE_CLIENTS_MAX] = {"c0", "c1", "c2", "c3",
                                                          "c4", "c5", "c6", "c7"};

    if (actor < 0)
        return "-";
    if (NODE_IS_CLIENT (actor))
        return clients[actor];
    return node_replica_name (NODE_REPLICA_OF (actor)).data;
}

static void add_request_flags (struct line *line, uint32_t flags)
{
    if ((flags & TIED_REQUEST_TIED) != 0)
        add (line, ", tied");
    if ((flags & TIED_REQUEST_LAST) != 0)
        add (line, ", last");
    if ((flags & TIED_REQUEST_REISSUE) != 0)
        add (line, ", re-issue");
}

static void add_reply_flags (struct line *line, uint32_t flags)
{
    if ((flags & TIED_REPLY_SIBLING_TOLD) != 0)
        add (line, ", sibling told");
    if ((flags & TIED_REPLY_SIBLING_STARTED) != 0)
        add (line, ", sibling started too");
}

static void add_completion (struct line *line, const struct node_note *note)
{
    const struct tied_client_completion *done = note->done;

    add (line, ": %s", tied_outcome_name ((int)done->outcome));
    if (note->other != NODE_NOBODY)
        add (line, " from %s copy %u", transcript_actor (note->other), note->copy);
    if (done->reject != 0)
        add (line, ", refused: %s", tied_reject_name ((int)done->reject));
    if (done->not_sent != 0)
        add (line, ", not sent: %s", tied_not_sent_name ((int)done->not_sent));
    add (line, ", copies %u", done->copies_sent);
    if (done->both_ran)
        add (line, ", both ran");
    if (done->outcome != TIED_OUTCOME_OK)
        add (line, ", %s", done->may_have_executed ? "may have executed" : "did not execute");
}

static void add_wire (struct line *line, const struct node_note *note)
{
    const char *name = tied_wire_type_name (note->type);

    for (; *name != '\0'; name++)
        add (line, "%c", *name >= 'a' && *name <= 'z' ? *name - 'a' + 'A' : *name);
}

int transcript_line (
    char *buffer, size_t size, const struct node_note *note, tied_time_t now, tied_time_t origin)
{
    struct line line = {buffer, size, 0};
    const uint64_t us = (now - origin) / 1000;

    add (&line, "%6" PRIu64 ".%03" PRIu64 " ms  ", us / 1000, us % 1000);
    add (&line, "%-3s %s", transcript_actor (note->actor), node_note_text (note->kind));
    if (note->type != 0) {
        add (&line, " ");
        add_wire (&line, note);
    }
    if (note->has_call) {
        if (note->call.epoch == 0x40)
            add (&line, " #%" PRIu64, note->call.sequence);
        else
            add (&line, " #%" PRIu64 ".%" PRIu64, note->call.epoch - 0x40, note->call.sequence);
    }
    if (note->kind != NODE_NOTE_SUBMIT && note->kind != NODE_NOTE_COMPLETE &&
        note->kind != NODE_NOTE_GIVE_UP && note->kind != NODE_NOTE_CANCELLED && note->has_call &&
        note->type != TIED_WIRE_CANCEL)
        add (&line, " copy %u", note->copy);
    if (note->other != NODE_NOBODY && note->kind != NODE_NOTE_COMPLETE) {
        const bool is_outward = note->kind == NODE_NOTE_SENT || note->kind == NODE_NOTE_REFUSED ||
                                note->kind == NODE_NOTE_LOSE || note->kind == NODE_NOTE_DUPLICATE ||
                                note->kind == NODE_NOTE_LINK_UP ||
                                note->kind == NODE_NOTE_LINK_DOWN;
        add (&line, " %s %s", is_outward ? "to" : "from", transcript_actor (note->other));
    }
    if (note->sibling != NODE_NOBODY)
        add (&line, ", sibling %s", transcript_actor (NODE_REPLICA (note->sibling)));
    if (note->kind == NODE_NOTE_SENT && note->type == TIED_WIRE_REQUEST)
        add_request_flags (&line, note->flags);
    if ((note->kind == NODE_NOTE_SENT && note->type == TIED_WIRE_REPLY) ||
        note->kind == NODE_NOTE_ANSWERED)
        add_reply_flags (&line, note->flags);
    if (note->kind == NODE_NOTE_REJECT || note->kind == NODE_NOTE_DENIED ||
        note->kind == NODE_NOTE_EXPIRE)
        add (&line, ": %s", tied_reject_name (note->reason));
    if (note->kind == NODE_NOTE_CANCELLED || note->kind == NODE_NOTE_CANCEL_RUNNING)
        add (&line, ": %s", tied_cancel_name (note->reason));
    if (note->kind == NODE_NOTE_SUBMIT)
        add (&line, ", %s", tied_mode_name ((int)note->flags));
    if (note->kind == NODE_NOTE_COMPLETE && note->done != NULL)
        add_completion (&line, note);
    return (int)line.used;
}
