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

/* Out of the idle list, or to its end, after a word, a copy or a new state. */
static void settle_idle (struct ti_clients *self, uint32_t index)
{
    struct ti_client *client = ti_clients_get (self, index);
    bool is_idle = ti_client_may_be_idle (client);

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
    enum ti_client_list from = ti_client_list_of (client->state);
    enum ti_client_list to = ti_client_list_of ((uint8_t)state);

    if (from != TI_CLIENTS_LISTS)
        unlink_from (self, &self->lists[from], index, false);
    if (to != TI_CLIENTS_LISTS)
        link_last (self, &self->lists[to], index, false);
    client->state = (uint8_t)state;
    if (client->is_idle && !ti_client_may_be_idle (client))
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
    bool is_running = ti_queue_slot_const (queue, slot)->state == TI_SLOT_RUNNING;

    detach (queue, is_running ? &client->running : &client->queued, slot);
    settle_idle (self, ti_queue_slot_const (queue, slot)->client);
}

void ti_clients_flagged (struct ti_clients *self, struct ti_queue *queue, uint32_t slot)
{
    struct ti_client *client = client_of (self, queue, slot);

    detach (queue, &client->running, slot);
    append (queue, &client->running, slot);
}
