/* SPDX-License-Identifier: MIT */
#include "results.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/util.h"

enum state {
    FREE = 0,
    PENDING,
    STORED
};

int ti_results_init (struct ti_results *self,
                     uint32_t max,
                     uint64_t bytes_max,
                     tied_duration_t ttl_ns,
                     uint64_t seed)
{
    uint32_t buckets = 1;

    memset (self, 0, sizeof *self);
    self->free = TI_RESULT_NONE;
    self->oldest = TI_RESULT_NONE;
    self->newest = TI_RESULT_NONE;
    if (max == 0)
        return 0;
    while (buckets < max)
        buckets *= 2;
    /* Zeros are both tables' beginning: what no key has needed takes no memory. */
    self->items = calloc (max, sizeof *self->items);
    self->buckets = calloc (buckets, sizeof *self->buckets);
    if (!self->items || !self->buckets) {
        ti_results_deinit (self);
        return TIED_ERR_NOMEM;
    }
    self->mask = buckets - 1;
    self->max = max;
    self->bytes_max = bytes_max;
    self->ttl_ns = ttl_ns;
    self->seed = seed;
    return 0;
}

void ti_results_deinit (struct ti_results *self)
{
    for (uint32_t i = 0; i < self->fresh; i++)
        free (self->items[i].body);
    free (self->items);
    free (self->buckets);
    memset (self, 0, sizeof *self);
}

static uint64_t hash_of (uint64_t seed, struct tied_view bytes)
{
    uint64_t hash = ti_mix (seed ^ bytes.size);
    const unsigned char *at = bytes.data;
    size_t left = bytes.size;
    uint64_t word;

    for (; left >= sizeof word; left -= sizeof word, at += sizeof word) {
        memcpy (&word, at, sizeof word);
        hash = ti_mix (hash ^ word);
    }
    word = 0;
    if (left > 0)
        memcpy (&word, at, left);
    return ti_mix (hash ^ word);
}

struct ti_result_key ti_results_key (const struct ti_results *self,
                                     struct tied_view method,
                                     struct tied_view key,
                                     struct tied_view body)
{
    return (struct ti_result_key){.method = method,
                                  .key = key,
                                  .hash = hash_of (hash_of (self->seed, method), key),
                                  .body_hash = hash_of (self->seed, body),
                                  .body_size = body.size};
}

static bool is_same (const struct ti_result *item, const struct ti_result_key *key)
{
    return item->hash == key->hash && item->method_size == key->method.size &&
           item->key_size == key->key.size &&
           memcmp (item->text, key->method.data, key->method.size) == 0 &&
           memcmp (item->text + key->method.size, key->key.data, key->key.size) == 0;
}

static uint32_t find (const struct ti_results *self, const struct ti_result_key *key)
{
    uint32_t place = self->buckets[(uint32_t)key->hash & self->mask];

    while (place != 0 && !is_same (&self->items[place - 1], key))
        place = self->items[place - 1].next;
    return place != 0 ? place - 1 : TI_RESULT_NONE;
}

static void unlink_age (struct ti_results *self, const struct ti_result *item)
{
    if (item->older != TI_RESULT_NONE)
        self->items[item->older].newer = item->newer;
    else
        self->oldest = item->newer;
    if (item->newer != TI_RESULT_NONE)
        self->items[item->newer].older = item->older;
    else
        self->newest = item->older;
}

static void remove_item (struct ti_results *self, uint32_t index)
{
    struct ti_result *item = &self->items[index];
    uint32_t *link = &self->buckets[(uint32_t)item->hash & self->mask];

    while (*link != index + 1)
        link = &self->items[*link - 1].next;
    *link = item->next;
    if (item->state == STORED) {
        unlink_age (self, item);
        self->stored_count--;
        self->bytes -= item->body_size;
        free (item->body);
    } else {
        self->pending_count--;
    }
    item->body = NULL;
    item->state = FREE;
    item->next = self->free;
    self->free = index;
}

enum ti_result_verdict ti_results_look (struct ti_results *self,
                                        const struct ti_result_key *key,
                                        tied_time_t now,
                                        uint32_t *out_index)
{
    uint32_t index = find (self, key);
    const struct ti_result *item;

    if (index != TI_RESULT_NONE && self->items[index].state == STORED &&
        self->items[index].until <= now) {
        remove_item (self, index);
        self->expired++;
        index = TI_RESULT_NONE;
    }
    if (index == TI_RESULT_NONE)
        return self->pending_count < self->max ? TI_RESULT_NEW : TI_RESULT_FULL;
    item = &self->items[index];
    if (item->body_hash != key->body_hash || item->request_size != key->body_size)
        return TI_RESULT_REUSED;
    *out_index = index;
    return item->state == STORED ? TI_RESULT_STORED : TI_RESULT_PENDING;
}

static void evict (struct ti_results *self)
{
    TI_ASSERT (self->oldest != TI_RESULT_NONE);
    remove_item (self, self->oldest);
    self->evicted++;
}

uint32_t
ti_results_claim (struct ti_results *self, const struct ti_result_key *key, uint32_t holder)
{
    uint32_t *bucket = &self->buckets[(uint32_t)key->hash & self->mask];
    struct ti_result *item;
    uint32_t index;

    TI_ASSERT (self->pending_count < self->max);
    if (self->pending_count + self->stored_count == self->max)
        evict (self);
    index = self->free;
    if (index != TI_RESULT_NONE)
        self->free = self->items[index].next;
    else
        index = self->fresh++;
    item = &self->items[index];
    *item = (struct ti_result){.hash = key->hash,
                               .body_hash = key->body_hash,
                               .request_size = key->body_size,
                               .next = *bucket,
                               .holder = holder,
                               .state = PENDING,
                               .method_size = (uint8_t)key->method.size,
                               .key_size = (uint8_t)key->key.size};
    memcpy (item->text, key->method.data, key->method.size);
    memcpy (item->text + key->method.size, key->key.data, key->key.size);
    *bucket = index + 1;
    self->pending_count++;
    return index;
}

void ti_results_store (struct ti_results *self,
                       uint32_t index,
                       uint32_t status,
                       struct tied_view body,
                       tied_time_t now)
{
    struct ti_result *item = &self->items[index];
    void *bytes = NULL;

    TI_ASSERT (item->state == PENDING);
    if (body.size > 0 && body.size <= self->bytes_max)
        bytes = malloc (body.size);
    if (body.size > 0 && !bytes) {
        self->too_large++;
        remove_item (self, index);
        return;
    }
    if (bytes)
        memcpy (bytes, body.data, body.size);
    while (self->bytes + body.size > self->bytes_max)
        evict (self);
    item->state = STORED;
    item->status = status;
    item->body = bytes;
    item->body_size = body.size;
    item->until = ti_time_add (now, self->ttl_ns);
    item->older = self->newest;
    item->newer = TI_RESULT_NONE;
    if (self->newest != TI_RESULT_NONE)
        self->items[self->newest].newer = index;
    else
        self->oldest = index;
    self->newest = index;
    self->bytes += body.size;
    self->pending_count--;
    self->stored_count++;
    self->stored++;
}

void ti_results_drop (struct ti_results *self, uint32_t index)
{
    TI_ASSERT (self->items[index].state == PENDING);
    remove_item (self, index);
}

void ti_results_age (struct ti_results *self, tied_time_t now, uint32_t most)
{
    for (; most > 0 && ti_results_deadline (self) <= now; most--) {
        remove_item (self, self->oldest);
        self->expired++;
    }
}

tied_time_t ti_results_deadline (const struct ti_results *self)
{
    return self->oldest != TI_RESULT_NONE ? self->items[self->oldest].until : TIED_NEVER;
}

void ti_results_check (const struct ti_results *self)
{
    uint32_t counts[3] = {0, 0, 0};
    uint32_t found = 0;
    uint32_t before = TI_RESULT_NONE;
    uint64_t bytes = 0;
    tied_time_t until = 0;

    for (uint32_t i = 0; i < self->fresh; i++) {
        TI_ASSERT (self->items[i].state <= STORED);
        counts[self->items[i].state]++;
    }
    TI_ASSERT (counts[PENDING] == self->pending_count && counts[STORED] == self->stored_count);
    for (uint32_t i = self->free; i != TI_RESULT_NONE; i = self->items[i].next)
        found++;
    TI_ASSERT (found == counts[FREE]);
    found = 0;
    for (uint32_t b = 0; self->max > 0 && b <= self->mask; b++)
        for (uint32_t at = self->buckets[b]; at != 0; at = self->items[at - 1].next) {
            TI_ASSERT (((uint32_t)self->items[at - 1].hash & self->mask) == b);
            found++;
        }
    TI_ASSERT (found == counts[PENDING] + counts[STORED]);
    found = 0;
    for (uint32_t i = self->oldest; i != TI_RESULT_NONE; i = self->items[i].newer, found++) {
        TI_ASSERT (self->items[i].older == before && self->items[i].until >= until);
        before = i;
        until = self->items[i].until;
        bytes += self->items[i].body_size;
    }
    TI_ASSERT (found == counts[STORED] && before == self->newest);
    TI_ASSERT (bytes == self->bytes && bytes <= self->bytes_max);
}
