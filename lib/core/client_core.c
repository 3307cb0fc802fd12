/* SPDX-License-Identifier: MIT */
/*
 * Client core: the step, which hands an event to the part that knows it and then does due work in
 * bounded pieces. No policy lives here.
 */
#include "core/client_state.h"

/* Token of a live call with this id, TI_NO_TOKEN if there is none. */
static uint32_t find (ti_core *self, struct tied_call_id id)
{
    const struct ti_slot *slot = ti_slot_at (self, id.sequence);
    if (id.epoch != self->options.epoch || slot->sequence != id.sequence)
        return TI_NO_TOKEN;
    return slot->token;
}

/* This client has given out that id. */
static bool is_ours (const ti_core *self, struct tied_call_id id)
{
    const uint64_t first = self->options.first_sequence;
    return id.epoch == self->options.epoch && id.sequence - first < self->next_sequence - first;
}

/* The call has such a copy at that replica, or had. */
static bool is_sent_to (ti_core *self, uint32_t token, uint8_t copy, uint32_t replica)
{
    const struct ti_race *race = &ti_call_at (self, token)->race;
    return copy < self->stride && (race->sent & ~race->unsent & TI_RACE_BIT (copy)) != 0 &&
           ti_copy_at (self, token, copy)->replica == replica;
}

/* Two replies of one ended call from different copies show that both ran; counted once. */
static void late_reply (ti_core *self, struct tied_call_id id, uint8_t copy)
{
    struct ti_slot *slot = ti_slot_at (self, id.sequence);
    self->counters.late_replies++;
    if (!slot->is_used || slot->sequence != id.sequence || slot->both_ran)
        return;
    if (slot->ran_copy == TI_NO_COPY) {
        slot->ran_copy = copy;
    } else if (slot->ran_copy != copy) {
        slot->both_ran = true;
        self->counters.duplicates++;
        if (slot->ran_copy <= 1 && copy <= 1)
            ti_method_duplicate (ti_method_at (self, slot->method), self->now);
    }
}

/* What an answer tells of the way and of the service, if it can be true. */
static void measure (ti_core *self, uint32_t token, const struct tied_client_event *ev)
{
    const tied_time_t sent = ti_copy_at (self, token, ev->u.reply.copy)->sent;
    const tied_duration_t took = ti_time_sub (self->now, sent);
    const tied_duration_t own = ti_time_add (ev->u.reply.queue_ns, ev->u.reply.service_ns);
    if (own > took)
        return;
    if (ev->u.reply.copy <= 1)
        ti_fifo_answered (&ti_replica_at (self, ev->replica)->fifo, sent, ev->u.reply.queue_ns,
                          ev->u.reply.service_ns, self->now);
    ti_delay_call (&ti_replica_at (self, ev->replica)->delay, took - own);
    ti_stagger_served (&self->stagger, ev->u.reply.service_ns);
}

static void on_reply (ti_core *self, const struct tied_client_event *ev)
{
    const uint32_t token = find (self, ev->u.reply.call);
    ti_client_hear (self, ev->replica, &ev->u.reply.load);
    if (!is_ours (self, ev->u.reply.call))
        self->counters.foreign_replies++;
    else if (token == TI_NO_TOKEN)
        late_reply (self, ev->u.reply.call, ev->u.reply.copy);
    else if (!is_sent_to (self, token, ev->u.reply.copy, ev->replica))
        self->counters.foreign_replies++;
    else {
        measure (self, token, ev);
        ti_client_answered (self, token, ev);
    }
}

static void on_reject (ti_core *self, const struct tied_client_event *ev)
{
    const uint8_t copy = ev->u.reject.copy;
    const uint32_t token = find (self, ev->u.reject.call);
    if (!ev->u.reject.is_local)
        ti_client_hear (self, ev->replica, &ev->u.reject.load);
    if (!is_ours (self, ev->u.reject.call))
        self->counters.foreign_replies++;
    else if (token == TI_NO_TOKEN)
        self->counters.late_rejects++;
    else if (!is_sent_to (self, token, copy, ev->replica))
        self->counters.foreign_replies++;
    else if (!(ti_call_at (self, token)->race.alive & TI_RACE_BIT (copy)))
        self->counters.late_rejects++;
    else
        ti_client_refused (self, token, copy, ev->u.reject.reason);
}

static void on_send_failed (ti_core *self, const struct tied_client_event *ev)
{
    const uint8_t copy = ev->u.send_failed.copy;
    const uint32_t token = find (self, ev->u.send_failed.call);
    if (token != TI_NO_TOKEN && is_sent_to (self, token, copy, ev->replica) &&
        (ti_call_at (self, token)->race.alive & TI_RACE_BIT (copy)))
        ti_client_unsent (self, token, copy);
}

static int check_submit (ti_core *self, const struct tied_client_submit *submit)
{
    if (self->is_stopped)
        return TIED_ERR_STATE;
    const bool is_stagger_valid = submit->stagger_ns == TIED_STAGGER_AUTO ||
                                  submit->stagger_ns == TIED_STAGGER_POLICY ||
                                  submit->stagger_ns <= TIED_S (3600);
    const bool is_hedge_valid = submit->hedge_ns == TIED_NEVER ||
                                submit->hedge_ns == TIED_HEDGE_POLICY ||
                                submit->hedge_ns <= TIED_S (3600);
    const bool is_mode_valid =
        submit->mode <= TIED_MODE_EXCLUSIVE || submit->mode == TIED_MODE_POLICY;
    if (submit->token >= self->options.calls_max || ti_call_at (self, submit->token)->is_live ||
        submit->method >= self->options.methods_max || submit->copies_max > TIED_COPIES_MAX ||
        !is_mode_valid || !is_stagger_valid || !is_hedge_valid)
        return TIED_ERR_INVAL;
    return 0;
}

static int check_event (ti_core *self, const struct tied_client_event *ev, tied_time_t now)
{
    if (!ev || now < self->now)
        return TIED_ERR_INVAL;
    switch (ev->type) {
    case TIED_CLIENT_EV_SUBMIT:
        return check_submit (self, &ev->u.submit);
    case TIED_CLIENT_EV_CANCEL:
        return find (self, ev->u.cancel.call) == TI_NO_TOKEN ? TIED_ERR_ABSENT : 0;
    case TIED_CLIENT_EV_REPLY:
    case TIED_CLIENT_EV_REJECT:
    case TIED_CLIENT_EV_LINK_UP:
    case TIED_CLIENT_EV_LINK_DOWN:
    case TIED_CLIENT_EV_WELCOME:
    case TIED_CLIENT_EV_PONG:
    case TIED_CLIENT_EV_SEND_FAILED:
        return ev->replica < self->replica_count ? 0 : TIED_ERR_INVAL;
    case TIED_CLIENT_EV_STOP:
    case TIED_CLIENT_EV_TIMEOUT:
        return 0;
    }
    return TIED_ERR_INVAL;
}

static void dispatch (ti_core *self, const struct tied_client_event *ev)
{
    switch (ev->type) {
    case TIED_CLIENT_EV_SUBMIT:
        ti_client_submit (self, &ev->u.submit);
        return;
    case TIED_CLIENT_EV_CANCEL:
        ti_client_cancel (self, find (self, ev->u.cancel.call));
        return;
    case TIED_CLIENT_EV_REPLY:
        on_reply (self, ev);
        return;
    case TIED_CLIENT_EV_REJECT:
        on_reject (self, ev);
        return;
    case TIED_CLIENT_EV_LINK_UP:
        ti_client_link_up (self, ev->replica);
        return;
    case TIED_CLIENT_EV_LINK_DOWN:
        ti_client_link_down (self, ev->replica);
        return;
    case TIED_CLIENT_EV_WELCOME:
        ti_client_welcome (self, ev);
        return;
    case TIED_CLIENT_EV_PONG:
        ti_client_pong (self, ev);
        return;
    case TIED_CLIENT_EV_SEND_FAILED:
        on_send_failed (self, ev);
        return;
    case TIED_CLIENT_EV_STOP:
        self->is_stopped = true;
        return;
    case TIED_CLIENT_EV_TIMEOUT:
        return;
    }
    TI_UNREACHABLE ();
}

static bool is_losing (const ti_core *self)
{
    return !ti_links_is_alone (TI_AT_CONST (struct ti_link, self, self->links),
                               ti_doomed_list (self));
}

static bool is_sweeping (const ti_core *self)
{
    return self->is_stopped && self->live_calls > 0;
}

static bool can_place (const ti_core *self)
{
    return self->is_placing && self->usable_count > 0 && !self->is_stopped &&
           !ti_links_is_alone (TI_AT_CONST (struct ti_link, self, self->links),
                               ti_waiting_list (self));
}

/* Complete the next live call of those that STOP ends. */
static void sweep (ti_core *self)
{
    for (uint32_t looked = 0; looked < TI_SWEEP_MAX; looked++) {
        const uint32_t token = self->stop_cursor;
        if (token == self->options.calls_max)
            return;
        self->stop_cursor++;
        if (ti_call_at (self, token)->is_live) {
            ti_client_cancel (self, token);
            return;
        }
    }
}

static tied_time_t next_time (const ti_core *self)
{
    return ti_min (ti_heap_top_time (&self->due), ti_heap_top_time (&self->beats));
}

/* The earliest of what is due; of the same time, a call goes first. */
static void on_time (ti_core *self)
{
    if (ti_heap_top_time (&self->due) <= ti_heap_top_time (&self->beats))
        ti_client_timer (self, ti_heap_top (&self->due));
    else
        ti_client_heartbeat (self, ti_heap_top (&self->beats));
}

static bool work_once (ti_core *self)
{
    if (is_sweeping (self)) {
        sweep (self);
    } else if (is_losing (self)) {
        ti_client_lose_one (self);
    } else if (next_time (self) <= self->now && self->now != TIED_NEVER) {
        on_time (self);
    } else if (can_place (self)) {
        ti_client_place_one (self);
    } else {
        self->is_placing = false;
        return false;
    }
    return true;
}

int tied_client_core_step (tied_client_core_t *self,
                           const struct tied_client_event *event,
                           tied_time_t now)
{
    TI_ASSERT (self->actions_taken == self->action_count);
    const int error = check_event (self, event, now);
    if (error)
        return error;
    self->now = now;
    self->action_count = 0;
    self->actions_taken = 0;
    dispatch (self, event);
    for (uint32_t work = 0; work < TI_WORK_MAX && ti_has_room (self); work++)
        if (!work_once (self))
            break;
    return 0;
}

const struct tied_client_action *tied_client_core_next (tied_client_core_t *self)
{
    if (self->actions_taken == self->action_count)
        return NULL;
    return &self->actions[self->actions_taken++];
}

tied_time_t tied_client_core_deadline (const tied_client_core_t *self)
{
    if (is_losing (self) || is_sweeping (self) || can_place (self))
        return self->now;
    return ti_max (next_time (self), self->now);
}
