/* SPDX-License-Identifier: MIT */
/* The invariants of the clients' lists, walked one by one: for tests, simulators and fuzzers. */
#include "clients.h"

#include "base/assert.h"

static uint32_t check_slots (const struct ti_queue *queue,
                             const struct ti_slot_list *list,
                             uint32_t client,
                             bool is_running)
{
    uint32_t before = TI_SLOT_NONE;
    uint32_t length = 0;
    bool was_flagged = false;
    uint32_t at;

    for (at = list->head; at != TI_SLOT_NONE;) {
        const struct ti_slot *slot = ti_queue_slot_const (queue, at);
        bool is_flagged = (slot->flags & TI_SLOT_CANCELLED) != 0;

        TI_ASSERT (slot->state != TI_SLOT_FREE);
        TI_ASSERT ((slot->state == TI_SLOT_RUNNING) == is_running);
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

        TI_ASSERT (client->is_idle == ti_client_may_be_idle (client));
        idle += client->is_idle;
        if (client->state == TI_CLIENT_FREE)
            continue;
        if (ti_client_list_of (client->state) != TI_CLIENTS_LISTS)
            listed[ti_client_list_of (client->state)]++;
        queued += check_slots (queue, &client->queued, i, false);
        running += check_slots (queue, &client->running, i, true);
        if (client->state == TI_CLIENT_WAITING) {
            TI_ASSERT (client->queued.head == TI_SLOT_NONE);
            TI_ASSERT (client->running.head != TI_SLOT_NONE);
        }
    }
    TI_ASSERT (queued == queue->depth + queue->parked + queue->claiming);
    TI_ASSERT (running == queue->running);
    for (i = 0; i < TI_CLIENTS_LISTS; i++) {
        uint32_t before = TI_CLIENT_NONE;
        uint32_t at;

        for (at = self->lists[i].head; at != TI_CLIENT_NONE;) {
            const struct ti_client *client = ti_clients_get_const (self, at);

            TI_ASSERT (ti_client_list_of (client->state) == i);
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
