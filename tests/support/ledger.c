/* SPDX-License-Identifier: MIT */
/* The rules of ledger.h, one function per kind of note. */
#include "ledger.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define BIT(actor) (UINT32_C (1) << NODE_REPLICA_OF (actor))

void ledger_violate (struct ledger *self, const char *what, struct tied_call_id call)
{
    if (self->violation[0] != '\0')
        return;
    (void)snprintf (self->violation, sizeof self->violation, "%s (call %" PRIu64 " of client %d)",
                    what, call.sequence, (int)(call.epoch - LEDGER_EPOCH (0)));
}

const char *ledger_mark_text (enum ledger_mark mark)
{
#define TEXT(name, text) text,
    static const char *const texts[] = {LEDGER_MARK_MAP (TEXT)};
#undef TEXT
    return mark < LEDGER_MARK_COUNT ? texts[mark] : "?";
}

struct ledger_call *ledger_find (struct ledger *self, struct tied_call_id call)
{
    const uint64_t client = call.epoch - LEDGER_EPOCH (0);

    if (client >= self->clients || call.sequence >= self->calls_per_client)
        return NULL;
    return &self->calls[client * self->calls_per_client + call.sequence];
}

static void on_submit (struct ledger *self,
                       struct ledger_call *c,
                       const struct node_note *note,
                       tied_time_t now)
{
    if (c->submitted != 0 || c->completions != 0)
        ledger_violate (self, "a call id was used twice", note->call);
    c->submitted = now + 1; /* 0 means never */
    c->deadline = note->deadline;
    c->mode = (uint8_t)note->flags;
    c->may_hedge = note->is_hedged;
}

/* Not refused anywhere yet and sent nowhere twice, so what was sent is still there. */
static bool is_all_out (const struct ledger_call *c)
{
    return c->refused == 0 && c->repeatable == 0;
}

static void on_sent_hedge (struct ledger *self, struct ledger_call *c, const struct node_note *note)
{
    if (!c->may_hedge || c->hedge != 0)
        ledger_violate (self, "a hedge that nobody asked for, or a second one", note->call);
    if ((note->flags & TIED_REQUEST_IDEMPOTENT) == 0)
        ledger_violate (self, "a call that is not idempotent was hedged", note->call);
    /* Of a pair it may: with no third replica the one that does not run the call is asked. */
    if ((c->sent_to & BIT (note->other)) != 0 && c->pair[1] == 0 && is_all_out (c) &&
        !self->crashes)
        ledger_violate (self, "a hedge went where a copy of its call is", note->call);
    c->hedge = note->copy;
    self->marks[LEDGER_MARK_HEDGED]++;
    if (c->pair[0] != 0 && c->pair[1] != 0 && is_all_out (c))
        self->marks[LEDGER_MARK_TIED_HEDGED]++;
}

static void
on_sent_request (struct ledger *self, struct ledger_call *c, const struct node_note *note)
{
    const uint32_t bit = BIT (note->other);

    if (c->completions != 0)
        ledger_violate (self, "a copy was sent after the call ended", note->call);
    if (c->mode == TIED_MODE_SINGLE && c->copies > 0 && !c->may_hedge &&
        (note->flags & (TIED_REQUEST_REISSUE | TIED_REQUEST_LAST)) == 0)
        ledger_violate (self, "a single call got a second copy", note->call);
    if (note->copy >= 2 && (note->flags & (TIED_REQUEST_REISSUE | TIED_REQUEST_LAST)) == 0)
        on_sent_hedge (self, c, note);
    if (note->flags & TIED_REQUEST_RELIEF) {
        self->relieving++;
        self->relieving_none += c->started_by == 0;
    }
    if (note->sibling == NODE_REPLICA_OF (note->other))
        ledger_violate (self, "a copy names its own replica as sibling", note->call);
    c->copies++;
    if (c->copies - c->met > TIED_COPIES_MAX)
        ledger_violate (self, "more copies than any call may have", note->call);
    if ((c->sent_to & bit) != 0)
        c->repeatable |= bit;
    c->sent_to |= bit;
    if (note->copy < 2 && (note->flags & (TIED_REQUEST_REISSUE | TIED_REQUEST_LAST)) == 0) {
        c->pair[note->copy] = (uint8_t)(NODE_REPLICA_OF (note->other) + 1);
        if (c->pair[0] == c->pair[1])
            ledger_violate (self, "both copies went to one replica", note->call);
    }
    if (note->copy >= 2 || (note->flags & TIED_REQUEST_LAST) != 0)
        c->freed |= bit;
    if ((note->flags & TIED_REQUEST_LAST) != 0) {
        c->last |= bit;
        if (c->copies > 2)
            self->marks[LEDGER_MARK_LAST_COPY]++;
    }
}

/* A copy was dropped or met a tombstone: some other replica runs or ran it, or the client said so.
 */
static void on_gone (struct ledger *self, struct ledger_call *c, const struct node_note *note)
{
    const uint32_t bit = BIT (note->actor);

    if ((c->cancelled & bit) != 0 || note->cause == TIED_REPLICA_EV_CLIENT_GONE ||
        note->cause == TIED_REPLICA_EV_TIMEOUT || note->cause == TIED_REPLICA_EV_TAKE)
        return; /* by its client's word, or its client is gone */
    if (c->mode == TIED_MODE_EXCLUSIVE)
        return; /* the owner gives its right away, and does not start */
    if ((c->started_by & ~bit) == 0 && !self->is_stranger_about)
        ledger_violate (self, "a copy was dropped though no other has started", note->call);
}

static void
on_run (struct ledger *self, struct ledger_call *c, const struct node_note *note, tied_time_t now)
{
    const uint32_t bit = BIT (note->actor);
    const bool remembers =
        !self->is_stranger_about && (self->forgetful & bit) == 0 && now - c->told_at < self->memory;

    if (note->cause != TIED_REPLICA_EV_TAKE)
        ledger_violate (self, "a copy started without a worker", note->call);
    if ((c->sent_to & bit) == 0)
        ledger_violate (self, "a replica runs a copy that nobody sent it", note->call);
    if ((c->running & bit) != 0 && (c->repeatable & bit) == 0 && !self->repeats)
        ledger_violate (self, "one replica runs one copy twice at once", note->call);
    if (c->mode == TIED_MODE_EXCLUSIVE && c->starts > 0)
        ledger_violate (self, "an exclusive call ran twice", note->call);
    /* A parked copy waits for the end of its sibling's, and may be told of no end. */
    if ((c->told & bit) != 0 && (c->freed & bit) == 0 && remembers && !self->repeats &&
        c->mode != TIED_MODE_PARK)
        ledger_violate (self, "a copy started after it was told that its sibling had", note->call);
    if (c->surely_not_run && !self->repeats)
        ledger_violate (self, "the caller was told that nothing ran, and it ran", note->call);
    if ((c->started_by & ~bit) != 0 && (c->freed & bit) == 0)
        self->marks[LEDGER_MARK_BOTH_STARTED]++;
    if ((c->told & bit) != 0 && (c->freed & bit) != 0)
        self->marks[LEDGER_MARK_REISSUE_PASSED]++;
    if ((c->last & bit) != 0)
        self->marks[LEDGER_MARK_LAST_COPY_RAN]++;
    if (c->starts > 0)
        self->duplicates++;
    self->starts++;
    c->starts++;
    c->started_by |= bit;
    c->running |= bit;
}

static void on_complete (struct ledger *self,
                         struct ledger_call *c,
                         const struct node_note *note,
                         tied_time_t now)
{
    const struct tied_client_completion *done = note->done;

    if (c->submitted == 0)
        ledger_violate (self, "a call ended that was never taken", note->call);
    if (c->completions != 0)
        ledger_violate (self, "a call ended twice", note->call);
    if (now > c->deadline && now > c->submitted - 1)
        ledger_violate (self, "a call ended after its deadline", note->call);
    if (done->outcome >= TIED_OUTCOME_COUNT) {
        ledger_violate (self, "an outcome that no list has", note->call);
        return;
    }
    if (done->outcome == TIED_OUTCOME_OK && c->finished == 0 && !self->is_stranger_about)
        ledger_violate (self, "a call is ok though no copy finished", note->call);
    if (done->outcome == TIED_OUTCOME_OK &&
        (note->other == NODE_NOBODY || (c->sent_to & BIT (note->other)) == 0))
        ledger_violate (self, "the winner is a replica that got no copy", note->call);
    if (done->copies_sent > c->copies || done->copies_sent + c->met < c->copies)
        ledger_violate (self, "copies_sent is not what was sent", note->call);
    if (!done->may_have_executed && c->starts > 0 && !self->repeats)
        ledger_violate (self, "the caller is told that nothing ran, and it ran", note->call);
    if (done->both_ran && c->starts < 2 && !self->is_stranger_about)
        ledger_violate (self, "the caller is told that both ran, and one ran", note->call);
    if (done->latency_ns != now - (c->submitted - 1))
        ledger_violate (self, "the latency is not end minus submission", note->call);
    if (done->outcome == TIED_OUTCOME_DEADLINE)
        self->marks[LEDGER_MARK_DEADLINE]++;
    if (done->outcome == TIED_OUTCOME_REJECTED)
        self->marks[LEDGER_MARK_REFUSED]++;
    if (c->hedge != 0 && done->winner != TIED_NO_REPLICA && done->winner_copy == c->hedge)
        self->marks[LEDGER_MARK_HEDGE_WON]++;
    c->completions = 1;
    c->ended = now;
    c->outcome = (uint8_t)done->outcome;
    c->surely_not_run = !done->may_have_executed;
    self->outcomes[done->outcome]++;
    self->completed++;
}

static void on_crash (struct ledger *self, int actor)
{
    const uint32_t bit = BIT (actor);

    self->crashes = true;
    for (uint64_t i = 0; i < (uint64_t)self->clients * self->calls_per_client; i++) {
        struct ledger_call *c = &self->calls[i];
        if ((c->running & bit) != 0 && (c->told & ~bit) != 0)
            self->marks[LEDGER_MARK_STARTER_CRASHED]++;
        c->running &= ~bit;
        c->told &= ~bit;
        c->cancelled &= ~bit;
    }
}

void ledger_note (struct ledger *self, const struct node_note *note, tied_time_t now)
{
    struct ledger_call *c = note->has_call ? ledger_find (self, note->call) : NULL;

    if (note->kind == NODE_NOTE_CRASH) {
        on_crash (self, note->actor);
        return;
    }
    if (note->kind == NODE_NOTE_CLIENT_FORGOTTEN)
        self->marks[LEDGER_MARK_CLIENT_FORGOTTEN]++;
    if (c == NULL)
        return;
    switch (note->kind) {
    case NODE_NOTE_SUBMIT:
        on_submit (self, c, note, now);
        break;
    case NODE_NOTE_GIVE_UP:
        c->given_up = 1;
        self->marks[LEDGER_MARK_GIVEN_UP]++;
        break;
    case NODE_NOTE_REFUSED:
        if (note->type == TIED_WIRE_STARTED)
            self->marks[LEDGER_MARK_STARTED_UNSENT]++;
        if (note->type == TIED_WIRE_REQUEST)
            c->copies++;
        break;
    case NODE_NOTE_SENT:
        if (note->type == TIED_WIRE_REQUEST)
            on_sent_request (self, c, note);
        break;
    case NODE_NOTE_LOSE:
        if (note->type == TIED_WIRE_STARTED)
            self->started_lost++;
        break;
    case NODE_NOTE_REJECT:
        c->refused |= BIT (note->actor);
        if (c->hedge != 0 && note->copy == c->hedge)
            self->marks[LEDGER_MARK_HEDGE_REFUSED]++;
        if (note->reason == TIED_REJECT_DUPLICATE && c->hedge != 0 && note->copy == c->hedge) {
            /* It was never there: its client may send it again, and does not count it then. */
            c->hedge = 0;
            c->met++;
        }
        if (note->reason == TIED_REJECT_STALE)
            self->marks[LEDGER_MARK_STALE]++;
        break;
    case NODE_NOTE_EXPIRE:
        self->marks[LEDGER_MARK_EXPIRED]++;
        break;
    case NODE_NOTE_DROP:
        on_gone (self, c, note);
        if (note->cause == TIED_REPLICA_EV_STARTED)
            self->marks[LEDGER_MARK_DROPPED]++;
        else if (note->cause == TIED_REPLICA_EV_CANCEL)
            self->marks[LEDGER_MARK_CANCEL_QUEUED]++;
        break;
    case NODE_NOTE_TOMBSTONED:
        on_gone (self, c, note);
        self->marks[LEDGER_MARK_CANCEL_BEFORE_COPY]++;
        break;
    case NODE_NOTE_MERGED:
        self->marks[LEDGER_MARK_MERGED]++;
        break;
    case NODE_NOTE_REPEATED:
        self->marks[LEDGER_MARK_REPEATED]++;
        break;
    case NODE_NOTE_RUN:
        on_run (self, c, note, now);
        break;
    case NODE_NOTE_CANCEL_RUNNING:
        self->marks[LEDGER_MARK_CANCEL_RUNNING]++;
        break;
    case NODE_NOTE_TOLD:
        if ((c->started_by & BIT (note->other)) == 0 && !self->is_stranger_about)
            ledger_violate (self, "a STARTED speaks of a copy that never started", note->call);
        c->told |= BIT (note->actor);
        c->told_at = now;
        break;
    case NODE_NOTE_UNTIED:
        self->marks[LEDGER_MARK_UNTIED]++;
        break;
    case NODE_NOTE_CANCELLED:
        if (c->completions == 0 && !self->is_stranger_about)
            ledger_violate (self, "a copy is cancelled while its call lives", note->call);
        c->cancelled |= BIT (note->actor);
        break;
    case NODE_NOTE_REPLY:
        c->running &= ~BIT (note->actor);
        c->finished++;
        break;
    case NODE_NOTE_ANSWERED:
        if (c->completions != 0)
            self->marks[LEDGER_MARK_LATE_REPLY]++;
        break;
    case NODE_NOTE_DENIED:
        if (note->reason == TIED_REJECT_DUPLICATE && note->copy >= 2 && c->completions == 0)
            self->hedges_met++;
        if (c->completions != 0)
            self->marks[LEDGER_MARK_LATE_REJECT]++;
        break;
    case NODE_NOTE_COMPLETE:
        on_complete (self, c, note, now);
        break;
    default:
        break;
    }
}

void ledger_end (struct ledger *self, bool is_calm)
{
    for (uint32_t client = 0; client < self->clients; client++) {
        for (uint32_t i = 0; i < self->calls_per_client; i++) {
            const struct tied_call_id id = {LEDGER_EPOCH (client), i};
            const struct ledger_call *c = ledger_find (self, id);

            if (c->submitted == 0)
                continue;
            if (c->completions != 1)
                ledger_violate (self, "a call never ended", id);
            if (!is_calm || c->given_up)
                continue;
            if (c->refused == 0 && c->outcome != TIED_OUTCOME_OK && c->deadline == TIED_NEVER)
                ledger_violate (self, "nothing went wrong, and a call is not ok", id);
            if (c->outcome == TIED_OUTCOME_OK && c->starts == 0)
                ledger_violate (self, "a call is ok and no copy ran", id);
        }
    }
}
