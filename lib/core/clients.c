/* SPDX-License-Identifier: MIT */
#include "clients.h"

#include "base/assert.h"

size_t ti_clients_size (uint32_t max)
{
    return ti_align ((size_t)max * sizeof (struct ti_client));
}

void ti_clients_init (struct ti_clients *self,
                      void *array,
                      uint32_t max,
                      tied_duration_t silence_ns)
{
    uint32_t i;

    TI_ASSERT ((unsigned char *)array > (unsigned char *)self);
    self->clients = (size_t)((unsigned char *)array - (unsigned char *)self);
    memset (array, 0, ti_clients_size (max));
    for (i = 0; i < TI_CLIENTS_LISTS; i++) {
        self->lists[i].head = TI_CLIENT_NONE;
        self->lists[i].tail = TI_CLIENT_NONE;
    }
    self->idle.head = TI_CLIENT_NONE;
    self->idle.tail = TI_CLIENT_NONE;
    self->silence_ns = silence_ns;
    self->max = max;
}

/* The list of a state; TI_CLIENTS_LISTS for the states without one. */
static enum ti_client_list list_of (uint8_t state)
{
    switch ((enum ti_client_state)state) {
    case TI_CLIENT_LIVE:
        return TI_CLIENTS_LIVE;
    case TI_CLIENT_SUSPECT:
        return TI_CLIENTS_SUSPECT;
    case TI_CLIENT_GOING:
        return TI_CLIENTS_GOING;
    case TI_CLIENT_FREE:
    case TI_CLIENT_WAITING:
        return TI_CLIENTS_LISTS;
    }
    TI_UNREACHABLE ();
}

/* Of a client, those of the list that it is to leave or join: of its state, or the idle list. */
static struct ti_client_links *links_of (struct ti_clients *self, uint32_t index, bool of_idle)
{
    struct ti_client *client = ti_clients_get (self, index);

    return of_idle ? &client->idle_links : &client->links;
}

static void
unlink_from (struct ti_clients *self, struct ti_client_ends *list, uint32_t index, bool of_idle)
{
    const struct ti_client_links *links = links_of (self, index, of_idle);

    if (links->prev == TI_CLIENT_NONE)
        list->head = links->next;
    else
        links_of (self, links->prev, of_idle)->next = links->next;
    if (links->next == TI_CLIENT_NONE)
        list->tail = links->prev;
    else
        links_of (self, links->next, of_idle)->prev = links->prev;
}

static void
link_last (struct ti_clients *self, struct ti_client_ends *list, uint32_t index, bool of_idle)
{
    struct ti_client_links *links = links_of (self, index, of_idle);

    links->prev = list->tail;
    links->next = TI_CLIENT_NONE;
    if (links->prev == TI_CLIENT_NONE)
        list->head = index;
    else
        links_of (self, links->prev, of_idle)->next = index;
    list->tail = index;
}

static bool may_be_idle (const struct ti_client *client)
{
    return (client->state == TI_CLIENT_LIVE || client->state == TI_CLIENT_SUSPECT) &&
           client->queued.head == TI_SLOT_NONE && client->running.head == TI_SLOT_NONE;
}

/* Out of the idle list, or to its end, after a word, a copy or a new state. */
static void settle_idle (struct ti_clients *self, uint32_t index)
{
    struct ti_client *client = ti_clients_get (self, index);
    bool is_idle = may_be_idle (client);

    /* The usual case of one busy client again. */
    if (client->is_idle && is_idle && self->idle.tail == index)
        return;
    if (client->is_idle)
        unlink_from (self, &self->idle, index, true);
    if (is_idle)
        link_last (self, &self->idle, index, true);
    client->is_idle = is_idle;
}

/* Leave the list of the old state and join the tail of the new one's. */
static void move (struct ti_clients *self, uint32_t index, enum ti_client_state state)
{
    struct ti_client *client = ti_clients_get (self, index);
    enum ti_client_list from = list_of (client->state);
    enum ti_client_list to = list_of ((uint8_t)state);

    if (from != TI_CLIENTS_LISTS)
        unlink_from (self, &self->lists[from], index, false);
    if (to != TI_CLIENTS_LISTS)
        link_last (self, &self->lists[to], index, false);
    client->state = (uint8_t)state;
    if (client->is_idle && !may_be_idle (client))
        settle_idle (self, index);
}

void ti_clients_touch (struct ti_clients *self, uint32_t index, tied_time_t now)
{
    struct ti_client *client = ti_clients_get (self, index);

    if (client->state == TI_CLIENT_FREE) {
        memset (client, 0, sizeof *client);
        client->queued.head = client->queued.tail = TI_SLOT_NONE;
        client->running.head = client->running.tail = TI_SLOT_NONE;
    }
    client->since = now;
    client->is_silent = false;
    /* The usual case, one busy client after another message of its own, moves nothing. */
    if (client->state != TI_CLIENT_LIVE || self->lists[TI_CLIENTS_LIVE].tail != index)
        move (self, index, TI_CLIENT_LIVE);
    settle_idle (self, index);
}

void ti_clients_leave (struct ti_clients *self, uint32_t index)
{
    uint8_t state = ti_clients_get (self, index)->state;

    ti_clients_get (self, index)->is_silent = false;
    if (state == TI_CLIENT_LIVE || state == TI_CLIENT_SUSPECT)
        move (self, index, TI_CLIENT_GOING);
}

/* When the head of a list is due. */
static tied_time_t due_at (const struct ti_clients *self, enum ti_client_list list)
{
    tied_duration_t patience = self->silence_ns / 8;
    uint32_t head = self->lists[list].head;

    if (head == TI_CLIENT_NONE || self->silence_ns == TIED_NEVER)
        return TIED_NEVER;
    if (list == TI_CLIENTS_LIVE)
        patience = self->silence_ns - patience;
    return ti_time_add (ti_clients_get_const (self, head)->since, patience);
}

void ti_clients_look (struct ti_clients *self, tied_time_t now, uint32_t bound)
{
    while (bound > 0 && due_at (self, TI_CLIENTS_SUSPECT) <= now) {
        uint32_t head = self->lists[TI_CLIENTS_SUSPECT].head;

        ti_clients_get (self, head)->is_silent = true;
        move (self, head, TI_CLIENT_GOING);
        bound--;
    }
    while (bound > 0 && due_at (self, TI_CLIENTS_LIVE) <= now) {
        uint32_t head = self->lists[TI_CLIENTS_LIVE].head;

        ti_clients_get (self, head)->since = now;
        move (self, head, TI_CLIENT_SUSPECT);
        bound--;
    }
}

tied_time_t ti_clients_deadline (const struct ti_clients *self)
{
    return ti_min (due_at (self, TI_CLIENTS_LIVE), due_at (self, TI_CLIENTS_SUSPECT));
}

uint32_t ti_clients_going (const struct ti_clients *self)
{
    return self->lists[TI_CLIENTS_GOING].head;
}

bool ti_clients_settle (struct ti_clients *self, uint32_t index)
{
    struct ti_client *client = ti_clients_get (self, index);
    bool is_idle = client->running.head == TI_SLOT_NONE;

    TI_ASSERT (client->state == TI_CLIENT_GOING);
    TI_ASSERT (client->queued.head == TI_SLOT_NONE);
    move (self, index, is_idle ? TI_CLIENT_FREE : TI_CLIENT_WAITING);
    return is_idle;
}

bool ti_clients_settle_waiting (struct ti_clients *self, uint32_t index)
{
    struct ti_client *client = ti_clients_get (self, index);

    if (client->state != TI_CLIENT_WAITING || client->running.head != TI_SLOT_NONE)
        return false;
    TI_ASSERT (client->queued.head == TI_SLOT_NONE);
    move (self, index, TI_CLIENT_FREE);
    return true;
}

uint32_t ti_clients_evict (struct ti_clients *self)
{
    uint32_t index = self->idle.head;

    if (index != TI_CLIENT_NONE)
        move (self, index, TI_CLIENT_FREE);
    return index;
}

static void append (struct ti_queue *queue, struct ti_slot_list *list, uint32_t slot)
{
    struct ti_links *links = ti_queue_links (queue, slot);

    links->client_prev = list->tail;
    links->client_next = TI_SLOT_NONE;
    if (list->tail == TI_SLOT_NONE)
        list->head = slot;
    else
        ti_queue_links (queue, list->tail)->client_next = slot;
    list->tail = slot;
}

static void prepend (struct ti_queue *queue, struct ti_slot_list *list, uint32_t slot)
{
    struct ti_links *links = ti_queue_links (queue, slot);

    links->client_prev = TI_SLOT_NONE;
    links->client_next = list->head;
    if (list->head == TI_SLOT_NONE)
        list->tail = slot;
    else
        ti_queue_links (queue, list->head)->client_prev = slot;
    list->head = slot;
}

static void detach (struct ti_queue *queue, struct ti_slot_list *list, uint32_t slot)
{
    const struct ti_links *links = ti_queue_links (queue, slot);

    if (links->client_prev == TI_SLOT_NONE)
        list->head = links->client_next;
    else
        ti_queue_links (queue, links->client_prev)->client_next = links->client_next;
    if (links->client_next == TI_SLOT_NONE)
        list->tail = links->client_prev;
    else
        ti_queue_links (queue, links->client_next)->client_prev = links->client_prev;
}

/* The client whose copy is in the slot. */
static struct ti_client *
client_of (struct ti_clients *self, const struct ti_queue *queue, uint32_t slot)
{
    return ti_clients_get (self, ti_queue_slot_const (queue, slot)->client);
}

void ti_clients_queued (struct ti_clients *self, struct ti_queue *queue, uint32_t slot)
{
    append (queue, &client_of (self, queue, slot)->queued, slot);
    settle_idle (self, ti_queue_slot_const (queue, slot)->client);
}

void ti_clients_started (struct ti_clients *self, struct ti_queue *queue, uint32_t slot)
{
    struct ti_client *client = client_of (self, queue, slot);

    detach (queue, &client->queued, slot);
    prepend (queue, &client->running, slot);
}

void ti_clients_release (struct ti_clients *self, struct ti_queue *queue, uint32_t slot)
{
    struct ti_client *client = client_of (self, queue, slot);
    bool is_queued = ti_queue_slot_const (queue, slot)->state == TI_SLOT_QUEUED;

    detach (queue, is_queued ? &client->queued : &client->running, slot);
    settle_idle (self, ti_queue_slot_const (queue, slot)->client);
}

void ti_clients_flagged (struct ti_clients *self, struct ti_queue *queue, uint32_t slot)
{
    struct ti_client *client = client_of (self, queue, slot);

    detach (queue, &client->running, slot);
    append (queue, &client->running, slot);
}

static uint32_t check_slots (const struct ti_queue *queue,
                             const struct ti_slot_list *list,
                             uint32_t client,
                             enum ti_slot_state state)
{
    uint32_t before = TI_SLOT_NONE;
    uint32_t length = 0;
    bool was_flagged = false;
    uint32_t at;

    for (at = list->head; at != TI_SLOT_NONE;) {
        const struct ti_slot *slot = ti_queue_slot_const (queue, at);
        bool is_flagged = (slot->flags & TI_SLOT_CANCELLED) != 0;

        TI_ASSERT (slot->state == state);
        TI_ASSERT (slot->client == client);
        TI_ASSERT (ti_queue_links_const (queue, at)->client_prev == before);
        TI_ASSERT (is_flagged || !was_flagged);
        TI_ASSERT (++length <= queue->max);
        was_flagged = is_flagged;
        before = at;
        at = ti_queue_links_const (queue, at)->client_next;
    }
    TI_ASSERT (list->tail == before);
    return length;
}

static void check_idle (const struct ti_clients *self, uint32_t count)
{
    uint32_t before = TI_CLIENT_NONE;
    uint32_t at;

    for (at = self->idle.head; at != TI_CLIENT_NONE;) {
        const struct ti_client *client = ti_clients_get_const (self, at);

        TI_ASSERT (client->is_idle);
        TI_ASSERT (client->idle_links.prev == before);
        TI_ASSERT (count-- > 0);
        before = at;
        at = client->idle_links.next;
    }
    TI_ASSERT (self->idle.tail == before);
    TI_ASSERT (count == 0);
}

void ti_clients_check (const struct ti_clients *self, const struct ti_queue *queue)
{
    uint32_t listed[TI_CLIENTS_LISTS] = {0};
    uint32_t queued = 0;
    uint32_t running = 0;
    uint32_t idle = 0;
    uint32_t i;

    for (i = 0; i < self->max; i++) {
        const struct ti_client *client = ti_clients_get_const (self, i);

        TI_ASSERT (client->is_idle == may_be_idle (client));
        idle += client->is_idle;
        if (client->state == TI_CLIENT_FREE)
            continue;
        if (list_of (client->state) != TI_CLIENTS_LISTS)
            listed[list_of (client->state)]++;
        queued += check_slots (queue, &client->queued, i, TI_SLOT_QUEUED);
        running += check_slots (queue, &client->running, i, TI_SLOT_RUNNING);
        if (client->state == TI_CLIENT_WAITING) {
            TI_ASSERT (client->queued.head == TI_SLOT_NONE);
            TI_ASSERT (client->running.head != TI_SLOT_NONE);
        }
    }
    TI_ASSERT (queued == queue->depth);
    TI_ASSERT (running == queue->running);
    for (i = 0; i < TI_CLIENTS_LISTS; i++) {
        uint32_t before = TI_CLIENT_NONE;
        uint32_t at;

        for (at = self->lists[i].head; at != TI_CLIENT_NONE;) {
            const struct ti_client *client = ti_clients_get_const (self, at);

            TI_ASSERT (list_of (client->state) == i);
            TI_ASSERT (client->links.prev == before);
            if (before != TI_CLIENT_NONE && i != TI_CLIENTS_GOING)
                TI_ASSERT (ti_clients_get_const (self, before)->since <= client->since);
            TI_ASSERT (listed[i]-- > 0);
            before = at;
            at = client->links.next;
        }
        TI_ASSERT (self->lists[i].tail == before);
        TI_ASSERT (listed[i] == 0);
    }
    check_idle (self, idle);
}
