/* SPDX-License-Identifier: MIT */
#include "volley.h"

#include "check.h"

void volley_init (struct volley *self, tied_client_t *client, const char *method, uint32_t count)
{
    memset (self, 0, sizeof *self);
    self->client = client;
    self->count = count;
    self->ends = calloc (count, sizeof *self->ends);
    CHECK_TRUE (self->ends != NULL);
    tied_call_init (&self->call, method, NULL, 0);
    self->call.is_idempotent = true;
    self->call.to_queue = true;
    self->call.timeout_ns = CHECK_PATIENCE;
}

void volley_submit (struct volley *self)
{
    struct tied_call call = self->call;
    uint64_t number = UINT64_C (0x5eed000000000000) + self->submitted;

    CHECK_U64 (self->submitted, <, self->count);
    call.body = &number;
    call.body_size = sizeof number;
    call.user = &self->ends[self->submitted];
    CHECK_I64 (tied_client_submit (self->client, &call, NULL), ==, 0);
    self->submitted++;
}

static void judge (struct volley *self, const struct tied_reply *reply)
{
    uint8_t *ends = reply->user;
    uint64_t number = UINT64_C (0x5eed000000000000) + (uint64_t)(ends - self->ends);

    CHECK_U64 (++*ends, ==, 1);
    CHECK_U64 (reply->details.latency_ns, <=, self->call.timeout_ns + VOLLEY_TICK);
    if (reply->details.outcome == TIED_OUTCOME_OK) {
        CHECK_U64 (reply->body_size, ==, sizeof number);
        CHECK_MEM (reply->body, &number, sizeof number);
    }
    self->outcomes[reply->details.outcome]++;
    self->copies += reply->details.copies_sent;
    self->both_ran += reply->details.both_ran;
    self->reissued += reply->details.winner != TIED_NO_REPLICA && reply->details.winner_copy > 1;
    self->last = reply->details;
    self->collected++;
}

bool volley_collect (struct volley *self, tied_duration_t timeout_ns)
{
    struct tied_reply reply;
    int rc = tied_client_next (self->client, timeout_ns, &reply);

    if (rc == TIED_ERR_TIMEOUT)
        return false;
    CHECK_I64 (rc, ==, 0);
    judge (self, &reply);
    tied_reply_release (&reply);
    return true;
}

void volley_finish (struct volley *self)
{
    while (self->collected < self->submitted)
        CHECK_TRUE (volley_collect (self, self->call.timeout_ns + TIED_S (30)));
    /* None twice. */
    CHECK_FALSE (volley_collect (self, 0));
    for (uint32_t i = 0; i < self->submitted; i++)
        CHECK_U64 (self->ends[i], ==, 1);
}

void volley_fire (struct volley *self, uint32_t count, uint32_t outstanding)
{
    uint32_t until = self->submitted + count;

    while (self->submitted < until) {
        volley_submit (self);
        while (self->submitted - self->collected >= outstanding)
            (void)volley_collect (self, TIED_S (30));
    }
}

void volley_free (struct volley *self)
{
    free (self->ends);
    self->ends = NULL;
}
