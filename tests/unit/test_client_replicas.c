/* SPDX-License-Identifier: MIT */
/*
 * The client core and its replicas: greeting, heartbeats, loss and re-issue, waiting for a replica.
 */
#include "check.h"
#include "client_rig.h"

static const struct tied_load IDLE = {0, 0, 0};

static void setup (struct rig *rig, uint32_t replicas)
{
    rig_init (rig);
    rig_start (rig);
    for (uint32_t i = 0; i < replicas; i++)
        rig_replica (rig, 100 + i);
    rig_forget (rig);
}

static const struct tied_client_action *request (const struct rig *rig, uint32_t n)
{
    return rig_get (rig, TIED_CLIENT_ACT_SEND_REQUEST, n);
}

static uint32_t requests (const struct rig *rig)
{
    return rig_count (rig, TIED_CLIENT_ACT_SEND_REQUEST);
}

static struct tied_call_id single (struct rig *rig, uint32_t token, bool is_idempotent)
{
    const struct tied_client_submit submit = {.token = token,
                                              .mode = TIED_MODE_SINGLE,
                                              .is_idempotent = is_idempotent,
                                              .deadline = rig->now + S (1)};
    CHECK_I64 (rig_submit (rig, &submit), ==, 0);
    return rig->calls[token].id;
}

static void a_replica_is_up_after_its_welcome_and_greeted_until_then (void **state)
{
    (void)state;
    struct rig rig;
    setup (&rig, 0);
    CHECK_I64 (tied_client_core_add_replica (rig.core), ==, 0);
    CHECK_U64 (rig_look (&rig, 0).state, ==, TIED_REPLICA_DOWN);
    rig_welcome (&rig, 0, 100);
    CHECK_U64 (rig_look (&rig, 0).state, ==, TIED_REPLICA_DOWN);
    rig_link (&rig, 0, true);
    CHECK_U64 (rig_look (&rig, 0).state, ==, TIED_REPLICA_GREETED);
    rig_pong (&rig, 0, IDLE);
    CHECK_U64 (rig_look (&rig, 0).state, ==, TIED_REPLICA_GREETED);
    CHECK_U64 (rig_look (&rig, 0).load_at, ==, 0);
    rig_advance (&rig, rig.now + MS (400));
    CHECK_U64 (rig_count (&rig, TIED_CLIENT_ACT_SEND_HELLO), ==, 3);
    CHECK_U64 (rig_count (&rig, TIED_CLIENT_ACT_SEND_PING), ==, 0);
    rig_welcome (&rig, 0, 0);
    CHECK_U64 (rig_look (&rig, 0).state, ==, TIED_REPLICA_GREETED);
    rig_welcome (&rig, 0, 100);
    CHECK_U64 (rig_look (&rig, 0).state, ==, TIED_REPLICA_UP);
    rig_advance (&rig, rig.now + MS (200));
    CHECK_U64 (rig_count (&rig, TIED_CLIENT_ACT_SEND_PING), ==, 1);
    rig_stop (&rig);
}

static void replicas_beyond_the_maximum_are_refused (void **state)
{
    (void)state;
    struct rig rig;
    setup (&rig, 8);
    CHECK_I64 (tied_client_core_add_replica (rig.core), ==, TIED_ERR_FULL);
    rig_stop (&rig);
}

static void a_replica_of_another_name_is_never_used (void **state)
{
    (void)state;
    struct rig rig;
    setup (&rig, 0);
    CHECK_I64 (tied_client_core_add_replica (rig.core), ==, 0);
    rig_link (&rig, 0, true);
    struct tied_client_event ev = {.type = TIED_CLIENT_EV_WELCOME, .replica = 0};
    ev.u.welcome.incarnation = 5;
    CHECK_I64 (rig_step (&rig, &ev), ==, 0);
    CHECK_U64 (rig_look (&rig, 0).state, ==, TIED_REPLICA_MISNAMED);
    CHECK_U64 (rig_counters (&rig)->replicas_misnamed, ==, 1);
    CHECK_I64 (rig_step (&rig, &ev), ==, 0);
    rig_welcome (&rig, 0, 100);
    CHECK_U64 (rig_look (&rig, 0).state, ==, TIED_REPLICA_MISNAMED);
    CHECK_U64 (rig_counters (&rig)->replicas_misnamed, ==, 1);
    rig_tied (&rig, 0, 0, S (1));
    rig_advance (&rig, rig.now + S (1));
    CHECK_U64 (requests (&rig), ==, 0);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_UNAVAILABLE);
    CHECK_FALSE (rig_done (&rig)->may_have_executed);
    rig_link (&rig, 0, false);
    rig_link (&rig, 0, true);
    CHECK_U64 (rig_look (&rig, 0).state, ==, TIED_REPLICA_GREETED);
    rig_stop (&rig);
}

static void silence_makes_a_replica_suspect_and_any_sign_of_life_restores_it (void **state)
{
    (void)state;
    struct rig rig;
    setup (&rig, 2);
    const tied_time_t start = rig.now;
    while (rig_look (&rig, 0).state == TIED_REPLICA_UP && rig.now < start + S (2)) {
        rig_advance (&rig, rig.now + MS (50));
        rig_pong (&rig, 1, IDLE);
    }
    /* Heard at the welcome; then three whole silent intervals. */
    CHECK_U64 (rig.now - start, ==, MS (800));
    CHECK_U64 (rig_look (&rig, 0).state, ==, TIED_REPLICA_SUSPECT);
    CHECK_U64 (rig_look (&rig, 1).state, ==, TIED_REPLICA_UP);
    CHECK_U64 (rig_counters (&rig)->replicas_lost, ==, 1);
    rig_forget (&rig);
    rig_advance (&rig, rig.now + MS (200));
    CHECK_U64 (rig_get (&rig, TIED_CLIENT_ACT_SEND_PING, 0)->replica +
                   rig_get (&rig, TIED_CLIENT_ACT_SEND_PING, 1)->replica,
               ==, 1);
    rig_reply (&rig, 0, (struct tied_call_id){1, 1}, 0, 0);
    CHECK_U64 (rig_look (&rig, 0).state, ==, TIED_REPLICA_UP);
    rig_stop (&rig);
}

static void a_suspect_replica_loses_its_copies_but_may_still_answer (void **state)
{
    (void)state;
    struct rig rig;
    setup (&rig, 2);
    const struct tied_call_id id = rig_tied (&rig, 0, 0, S (10));
    const uint32_t silent = request (&rig, 0)->replica;
    const uint32_t other = 1 - silent;
    for (int i = 0; i < 20; i++) {
        rig_advance (&rig, rig.now + MS (50));
        rig_pong (&rig, other, IDLE);
    }
    CHECK_U64 (rig_look (&rig, silent).state, ==, TIED_REPLICA_SUSPECT);
    CHECK_U64 (rig_counters (&rig)->copies_lost, ==, 1);
    CHECK_U64 (requests (&rig), ==, 3);
    CHECK_U64 (request (&rig, 2)->replica, ==, other);
    /* The answer of a copy that was given up is an answer. */
    rig_reply (&rig, silent, id, 0, 0);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_OK);
    CHECK_U64 (rig_done (&rig)->winner, ==, silent);
    CHECK_U64 (rig_count (&rig, TIED_CLIENT_ACT_SEND_CANCEL), ==, 1);
    CHECK_U64 (rig_get (&rig, TIED_CLIENT_ACT_SEND_CANCEL, 0)->replica, ==, other);
    rig_stop (&rig);
}

static void a_lost_tied_copy_is_issued_again_where_the_other_one_is (void **state)
{
    (void)state;
    for (uint32_t lost = 0; lost < 2; lost++) {
        struct rig rig;
        setup (&rig, 3);
        rig_tied (&rig, 0, 0, S (1));
        const uint32_t other = request (&rig, 1 - lost)->replica;
        rig_link (&rig, request (&rig, lost)->replica, false);
        CHECK_U64 (requests (&rig), ==, 3);
        const struct tied_client_action *again = request (&rig, 2);
        CHECK_U64 (again->replica, ==, other);
        CHECK_U64 (again->u.request.copy, ==, 2);
        CHECK_U64 (again->u.request.flags, ==, TIED_REQUEST_IDEMPOTENT | TIED_REQUEST_REISSUE);
        CHECK_U64 (rig_counters (&rig)->copies_reissued, ==, 1);
        /* Both copies there are lost together: one re-issue, to the third. */
        rig_link (&rig, other, false);
        CHECK_U64 (requests (&rig), ==, 4);
        CHECK_U64 (rig_counters (&rig)->copies_lost, ==, 3);
        CHECK_U64 (request (&rig, 3)->u.request.copy, ==, 3);
        rig_stop (&rig);
    }
}

/* It would have merged the re-issue with a copy that it still had. */
static void a_refused_reissue_gives_up_the_copy_that_was_there (void **state)
{
    (void)state;
    struct rig rig;
    setup (&rig, 2);
    const struct tied_call_id id = rig_tied (&rig, 0, 0, S (1));
    const uint32_t other = request (&rig, 1)->replica;
    rig_link (&rig, request (&rig, 0)->replica, false);
    CHECK_U64 (request (&rig, 2)->replica, ==, other);
    rig_reject (&rig, other, id, 2, TIED_REJECT_BUSY);
    CHECK_U64 (rig_counters (&rig)->copies_lost, ==, 2);
    CHECK_U64 (requests (&rig), ==, 4);
    CHECK_TRUE ((request (&rig, 3)->u.request.flags & TIED_REQUEST_LAST) != 0);
    rig_stop (&rig);
}

static void a_primary_lost_before_the_stagger_is_issued_again_at_the_sibling (void **state)
{
    (void)state;
    struct rig rig;
    setup (&rig, 4);
    rig_tied (&rig, 0, MS (100), S (1));
    const uint32_t sibling = request (&rig, 0)->u.request.sibling;
    rig_link (&rig, request (&rig, 0)->replica, false);
    CHECK_U64 (requests (&rig), ==, 2);
    CHECK_U64 (request (&rig, 1)->replica, ==, sibling);
    CHECK_U64 (request (&rig, 1)->u.request.copy, ==, 2);
    CHECK_TRUE ((request (&rig, 1)->u.request.flags & TIED_REQUEST_REISSUE) != 0);
    rig_advance (&rig, rig.now + MS (150));
    CHECK_U64 (requests (&rig), ==, 2);
    rig_stop (&rig);
}

static void a_restart_under_us_loses_the_copies_there (void **state)
{
    (void)state;
    struct rig rig;
    setup (&rig, 1);
    single (&rig, 0, true);
    rig_welcome (&rig, 0, 900);
    CHECK_U64 (rig_counters (&rig)->replicas_lost, ==, 1);
    CHECK_U64 (rig_counters (&rig)->copies_lost, ==, 1);
    CHECK_U64 (requests (&rig), ==, 2);
    CHECK_U64 (request (&rig, 1)->u.request.incarnation, ==, 900);
    /* The same welcome again changes nothing. */
    rig_welcome (&rig, 0, 900);
    CHECK_U64 (rig_counters (&rig)->replicas_lost, ==, 1);
    rig_stop (&rig);
}

static void a_lost_copy_of_a_call_that_is_not_idempotent_ends_it (void **state)
{
    (void)state;
    struct rig rig;
    setup (&rig, 2);
    single (&rig, 0, false);
    rig_link (&rig, request (&rig, 0)->replica, false);
    CHECK_U64 (requests (&rig), ==, 1);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_UNAVAILABLE);
    CHECK_TRUE (rig_done (&rig)->may_have_executed);
    rig_stop (&rig);
}

static void losses_use_up_copies_max_and_then_end_the_call (void **state)
{
    (void)state;
    struct rig rig;
    setup (&rig, 8);
    single (&rig, 0, true);
    for (uint32_t i = 0; i < 4; i++)
        rig_link (&rig, request (&rig, i)->replica, false);
    CHECK_U64 (requests (&rig), ==, 4);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_UNAVAILABLE);
    CHECK_U64 (rig_counters (&rig)->not_sent_copies_max, ==, 1);
    rig_stop (&rig);
}

static void losing_a_replica_with_many_copies_is_done_in_bounded_steps (void **state)
{
    (void)state;
    struct rig rig;
    rig_init (&rig);
    rig.options.calls_max = RIG_CALLS_MAX;
    rig_start (&rig);
    rig_replica (&rig, 100);
    for (uint32_t i = 0; i < RIG_CALLS_MAX; i++)
        single (&rig, i, i % 2);
    rig_replica (&rig, 101);
    rig_forget (&rig);
    rig_link (&rig, 0, false);
    CHECK_U64 (rig.log_count, <, RIG_CALLS_MAX);
    CHECK_U64 (tied_client_core_deadline (rig.core), ==, rig.now);
    CHECK_U64 (rig_look (&rig, 0).in_flight, ==, 0);
    /* It comes back before the losses are all dealt with: they stay lost. */
    rig_link (&rig, 0, true);
    rig_welcome (&rig, 0, 100);
    rig_advance (&rig, rig.now);
    CHECK_U64 (rig_counters (&rig)->copies_lost, ==, RIG_CALLS_MAX);
    CHECK_U64 (rig_count (&rig, TIED_CLIENT_ACT_COMPLETE), ==, RIG_CALLS_MAX / 2);
    CHECK_U64 (tied_client_core_live_calls (rig.core), ==, RIG_CALLS_MAX / 2);
    rig_stop (&rig);
}

static void a_call_waits_for_a_replica_and_leaves_when_one_is_up (void **state)
{
    (void)state;
    struct rig rig;
    rig_init (&rig);
    rig.options.calls_max = RIG_CALLS_MAX;
    rig_start (&rig);
    CHECK_I64 (tied_client_core_add_replica (rig.core), ==, 0);
    for (uint32_t i = 0; i < RIG_CALLS_MAX; i++)
        single (&rig, i, i % 2);
    CHECK_U64 (requests (&rig), ==, 0);
    rig_link (&rig, 0, true);
    rig_welcome (&rig, 0, 100);
    CHECK_U64 (requests (&rig), >, 0);
    CHECK_U64 (requests (&rig), <, RIG_CALLS_MAX);
    CHECK_U64 (tied_client_core_deadline (rig.core), ==, rig.now);
    rig_advance (&rig, rig.now);
    CHECK_U64 (requests (&rig), ==, RIG_CALLS_MAX);
    for (uint32_t i = 0; i < RIG_CALLS_MAX; i++)
        CHECK_U64 (request (&rig, i)->token, ==, i);
    rig_stop (&rig);
}

static void a_call_that_waits_in_vain_is_unavailable_at_its_deadline (void **state)
{
    (void)state;
    struct rig rig;
    setup (&rig, 0);
    CHECK_I64 (tied_client_core_add_replica (rig.core), ==, 0);
    rig_tied (&rig, 0, 0, MS (20));
    rig_advance (&rig, rig.now + MS (20));
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_UNAVAILABLE);
    CHECK_FALSE (rig_done (&rig)->may_have_executed);
    CHECK_U64 (rig_done (&rig)->latency_ns, ==, MS (20));
    CHECK_U64 (rig_done (&rig)->not_sent, ==, TIED_NOT_SENT_NO_SIBLING);
    rig_stop (&rig);
}

static void a_call_whose_only_replica_died_waits_for_its_successor (void **state)
{
    (void)state;
    struct rig rig;
    setup (&rig, 1);
    const struct tied_call_id id = single (&rig, 0, true);
    rig_link (&rig, 0, false);
    CHECK_U64 (rig_count (&rig, TIED_CLIENT_ACT_COMPLETE), ==, 0);
    rig_link (&rig, 0, true);
    rig_welcome (&rig, 0, 900);
    CHECK_U64 (requests (&rig), ==, 2);
    CHECK_TRUE ((request (&rig, 1)->u.request.flags & TIED_REQUEST_REISSUE) != 0);
    rig_reply (&rig, 0, id, 2, 0);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_OK);
    rig_stop (&rig);
}

static void a_first_copy_that_could_not_be_sent_goes_elsewhere (void **state)
{
    (void)state;
    for (int is_idempotent = 0; is_idempotent < 2; is_idempotent++) {
        struct rig rig;
        setup (&rig, 2);
        const struct tied_call_id id = single (&rig, 0, is_idempotent);
        const uint32_t full = request (&rig, 0)->replica;
        CHECK_I64 (rig_send_failed (&rig, full, id, 0), ==, 0);
        CHECK_U64 (requests (&rig), ==, 2);
        CHECK_U64 (request (&rig, 1)->replica, !=, full);
        CHECK_U64 (request (&rig, 1)->u.request.flags & TIED_REQUEST_REISSUE, ==, 0);
        CHECK_U64 (rig_look (&rig, full).in_flight, ==, 0);
        rig_stop (&rig);
    }
}

static void a_call_that_no_replica_can_take_now_waits_for_a_sign_of_life (void **state)
{
    (void)state;
    struct rig rig;
    setup (&rig, 1);
    const struct tied_call_id id = single (&rig, 0, false);
    CHECK_I64 (rig_send_failed (&rig, 0, id, 0), ==, 0);
    CHECK_U64 (rig_count (&rig, TIED_CLIENT_ACT_COMPLETE), ==, 0);
    CHECK_U64 (requests (&rig), ==, 1);
    CHECK_U64 (tied_client_core_deadline (rig.core), >, rig.now);
    rig_pong (&rig, 0, IDLE);
    CHECK_U64 (requests (&rig), ==, 2);
    for (uint8_t copy = 2; copy < 5; copy++) {
        CHECK_I64 (rig_send_failed (&rig, 0, id, copy), ==, 0);
        rig_pong (&rig, 0, IDLE);
    }
    CHECK_U64 (requests (&rig), ==, 4);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_UNAVAILABLE);
    CHECK_FALSE (rig_done (&rig)->may_have_executed);
    rig_stop (&rig);
}

static void a_second_copy_that_could_not_be_sent_is_only_a_reason (void **state)
{
    (void)state;
    struct rig rig;
    setup (&rig, 3);
    const struct tied_call_id id = rig_tied (&rig, 0, 0, S (1));
    CHECK_I64 (rig_send_failed (&rig, request (&rig, 1)->replica, id, 1), ==, 0);
    CHECK_U64 (requests (&rig), ==, 2);
    rig_reply (&rig, request (&rig, 0)->replica, id, 0, 0);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_OK);
    CHECK_U64 (rig_done (&rig)->not_sent, ==, TIED_NOT_SENT_LINK_DOWN);
    CHECK_U64 (rig_count (&rig, TIED_CLIENT_ACT_SEND_CANCEL), ==, 0);
    /* Too late or wrong: no effect. */
    CHECK_I64 (rig_send_failed (&rig, 0, id, 0), ==, 0);
    rig_stop (&rig);
}

static void stale_means_greet_again_and_send_every_kind_of_call_again (void **state)
{
    (void)state;
    struct rig rig;
    setup (&rig, 1);
    const struct tied_call_id id = single (&rig, 0, false);
    rig_reject (&rig, 0, id, 0, TIED_REJECT_STALE);
    CHECK_U64 (rig_look (&rig, 0).state, ==, TIED_REPLICA_GREETED);
    CHECK_U64 (rig_count (&rig, TIED_CLIENT_ACT_SEND_HELLO), ==, 1);
    CHECK_U64 (rig_counters (&rig)->replicas_lost, ==, 1);
    CHECK_U64 (rig_count (&rig, TIED_CLIENT_ACT_COMPLETE), ==, 0);
    rig_welcome (&rig, 0, 900);
    CHECK_U64 (requests (&rig), ==, 2);
    CHECK_U64 (request (&rig, 1)->u.request.incarnation, ==, 900);
    rig_reply (&rig, 0, id, 2, 0);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_OK);
    rig_stop (&rig);
}

static void a_late_stale_does_not_take_down_the_new_incarnation (void **state)
{
    (void)state;
    struct rig rig;
    rig_init (&rig);
    rig.options.calls_max = RIG_CALLS_MAX;
    rig_start (&rig);
    rig_replica (&rig, 100);
    struct tied_call_id id = {0, 0};
    for (uint32_t i = 0; i < RIG_CALLS_MAX; i++)
        id = single (&rig, i, true);
    /* The last call's loss is still to be dealt with when its refusal comes. */
    rig_welcome (&rig, 0, 900);
    rig_reject (&rig, 0, id, 0, TIED_REJECT_STALE);
    CHECK_U64 (rig_look (&rig, 0).state, ==, TIED_REPLICA_UP);
    CHECK_U64 (rig_look (&rig, 0).incarnation, ==, 900);
    rig_stop (&rig);
}

static void pong (struct rig *rig, uint32_t replica, tied_time_t echo)
{
    struct tied_client_event ev = {.type = TIED_CLIENT_EV_PONG, .replica = replica};
    ev.u.pong.echo = echo;
    CHECK_I64 (rig_step (rig, &ev), ==, 0);
}

static void the_stagger_follows_the_slower_round_trip_within_its_limits (void **state)
{
    (void)state;
    const struct {
        tied_duration_t round_trip, stagger;
    } rows[] = {{US (20), US (200)}, {US (900), US (2700)}, {MS (40), MS (10)}};
    /* One sample tells nothing of how much it varies: thrice the round trip. */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct rig rig;
        setup (&rig, 2);
        rig_tied (&rig, 0, TIED_STAGGER_AUTO, S (1));
        CHECK_U64 (tied_client_core_deadline (rig.core) - rig.now, ==, MS (1));
        rig_advance (&rig, rig.now + MS (200));
        const tied_time_t sent = rig_get (&rig, TIED_CLIENT_ACT_SEND_PING, 0)->u.probe.time;
        CHECK_U64 (sent, ==, rig_get (&rig, TIED_CLIENT_ACT_SEND_PING, 1)->u.probe.time);
        rig.now = sent + US (10);
        pong (&rig, 0, sent);
        CHECK_U64 (rig_look (&rig, 0).round_trip_ns, ==, US (10));
        rig.now = sent + rows[i].round_trip;
        pong (&rig, 1, sent);
        CHECK_U64 (rig_look (&rig, 1).round_trip_ns, ==, rows[i].round_trip);
        rig_forget (&rig);
        const struct tied_call_id id = rig_tied (&rig, 1, TIED_STAGGER_AUTO, S (1));
        rig_reply (&rig, request (&rig, 0)->replica, id, 0, 0);
        CHECK_U64 (rig_done (&rig)->stagger_ns, ==, rows[i].stagger);
        rig_stop (&rig);
    }
}

/* A call with this way there and back, of which the replica says that it had it for 4 ms. */
static tied_duration_t answered (struct rig *rig, tied_duration_t way, tied_duration_t claimed)
{
    struct tied_client_event ev = {.type = TIED_CLIENT_EV_REPLY};
    rig_forget (rig);
    ev.u.reply.call = rig_tied (rig, 0, TIED_STAGGER_AUTO, S (1));
    ev.replica = request (rig, 0)->replica;
    ev.u.reply.queue_ns = claimed - MS (3);
    ev.u.reply.service_ns = MS (3);
    rig->now += MS (4) + way;
    CHECK_I64 (rig_step (rig, &ev), ==, 0);
    return rig_done (rig)->stagger_ns;
}

/* No PING is answered here: answers alone tell the way. */
static void answers_tell_the_way_and_how_much_it_varies (void **state)
{
    (void)state;
    struct rig rig;
    rig_init (&rig);
    rig.options.heartbeat_ns = S (3600);
    rig_start (&rig);
    rig_replica (&rig, 100);
    rig_replica (&rig, 101);
    CHECK_U64 (answered (&rig, US (500), MS (4)), ==, MS (1));
    tied_duration_t steady = 0;
    for (int i = 0; i < 1000; i++)
        steady = answered (&rig, US (500), MS (4));
    CHECK_U64 (steady, >=, US (500));
    CHECK_U64 (steady, <, US (504));
    /* Deviation 100 us, service 3 ms, two replicas: 4 sqrt (100 us x 3 ms) = 2.19 ms. */
    tied_duration_t unsteady = 0;
    for (int i = 0; i < 1000; i++)
        unsteady = answered (&rig, i / 2 % 2 ? US (400) : US (600), MS (4));
    CHECK_U64 (unsteady, >, US (1900));
    CHECK_U64 (unsteady, <, US (2500));
    CHECK_U64 (rig_look (&rig, 0).round_trip_ns, ==, 0);
    rig_stop (&rig);
}

static void an_answer_that_claims_more_time_than_passed_measures_nothing (void **state)
{
    (void)state;
    struct rig rig;
    rig_init (&rig);
    rig.options.heartbeat_ns = S (3600);
    rig_start (&rig);
    rig_replica (&rig, 100);
    rig_replica (&rig, 101);
    for (int i = 0; i < 1000; i++)
        (void)answered (&rig, US (500), MS (4));
    const tied_duration_t before = answered (&rig, US (500), MS (4));
    const tied_duration_t claims[] = {MS (4) + US (501), S (1), TIED_NEVER - 1, TIED_NEVER};
    for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++)
        (void)answered (&rig, US (500), claims[i]);
    CHECK_U64 (answered (&rig, US (500), MS (4)), ==, before);
    rig_stop (&rig);
}

static void hostile_echoes_do_not_move_the_estimate (void **state)
{
    (void)state;
    struct rig rig;
    setup (&rig, 1);
    rig_advance (&rig, rig.now + MS (200));
    const tied_time_t sent = rig_get (&rig, TIED_CLIENT_ACT_SEND_PING, 0)->u.probe.time;
    rig.now += US (300);
    const tied_time_t wrong[] = {0, 1, sent - 1, sent + 1, rig.now, rig.now + 1, UINT64_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        pong (&rig, 0, wrong[i]);
    CHECK_U64 (rig_look (&rig, 0).round_trip_ns, ==, 0);
    pong (&rig, 0, sent);
    CHECK_U64 (rig_look (&rig, 0).round_trip_ns, ==, US (300));
    /* Once is enough: the same echo later is no longer one of ours. */
    rig.now += S (1) / 10;
    pong (&rig, 0, sent);
    CHECK_U64 (rig_look (&rig, 0).round_trip_ns, ==, US (300));
    rig_stop (&rig);
}

static void RQ_05_a_load_report_fades_and_the_replica_is_eligible_again (void **state)
{
    (void)state;
    struct rig rig;
    rig_init (&rig);
    rig.options.heartbeat_ns = S (60);
    rig_start (&rig);
    rig_replica (&rig, 100);
    rig_replica (&rig, 101);
    rig_pong (&rig, 0, (struct tied_load){100, 0, 0});
    for (uint32_t round = 0; round < 2; round++) {
        uint32_t first[2] = {0, 0};
        for (uint32_t i = 0; i < 200; i++) {
            rig_forget (&rig);
            const struct tied_call_id id = rig_tied (&rig, 0, MS (5), S (1));
            first[request (&rig, 0)->replica]++;
            CHECK_I64 (rig_cancel (&rig, id), ==, 0);
        }
        if (round == 0)
            CHECK_U64 (first[0], ==, 0);
        else
            CHECK_U64 (first[0], >, 50);
        rig_advance (&rig, rig.now + S (5));
    }
    rig_stop (&rig);
}

/* Of three replicas with 6 copies each only the second's report stays fresh: the others fade to the
 * mean of 6, not to nothing, so none draws the calls of all. */
static void RQ_05_old_reports_count_as_the_mean_of_all_replicas (void **state)
{
    (void)state;
    struct rig rig;
    rig_init (&rig);
    rig.options.heartbeat_ns = S (60);
    rig_start (&rig);
    for (uint32_t i = 0; i < 3; i++)
        rig_replica (&rig, 100 + i);
    for (int round = 0; round < 400; round++)
        for (uint32_t i = 0; i < 3; i++)
            rig_pong (&rig, i, (struct tied_load){5, 1, 0});
    rig_advance (&rig, rig.now + S (5));
    for (uint32_t depth = 3; depth <= 9; depth += 3) {
        uint32_t first[3] = {0, 0, 0};
        rig_pong (&rig, 1, (struct tied_load){depth, 0, 0});
        for (uint32_t i = 0; i < 300; i++) {
            rig_forget (&rig);
            const struct tied_call_id id = rig_tied (&rig, 0, MS (5), S (1));
            first[request (&rig, 0)->replica]++;
            CHECK_I64 (rig_cancel (&rig, id), ==, 0);
        }
        if (depth == 3)
            CHECK_U64 (first[1], ==, 300);
        if (depth == 9)
            CHECK_U64 (first[1], ==, 0);
        for (uint32_t i = 0; i < 3 && depth > 3; i += 2)
            CHECK_U64 (first[i], >, 60);
    }
    rig_stop (&rig);
}

/* Only the driver speaks, so the replica's silence and its load stay what they are. */
static void a_copy_that_the_driver_refuses_is_no_sign_of_life (void **state)
{
    struct rig rig;
    struct tied_call_id id;
    struct tied_client_event ev = {.type = TIED_CLIENT_EV_REJECT};

    (void)state;
    rig_init (&rig);
    rig_start (&rig);
    (void)rig_replica (&rig, 100);
    rig_pong (&rig, 0, (struct tied_load){.depth = 5, .running = 1, .wait_us = 9});
    for (uint32_t i = 0; rig_look (&rig, 0).state == TIED_REPLICA_UP; i++) {
        CHECK_U64 (i, <, 10);
        id = rig_tied (&rig, 0, 0, S (5));
        ev.u.reject.call = id;
        ev.u.reject.reason = TIED_REJECT_TOO_LARGE;
        ev.u.reject.is_local = true;
        rig_forget (&rig);
        CHECK_I64 (rig_step (&rig, &ev), ==, 0);
        CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_INVALID);
        CHECK_FALSE (rig_done (&rig)->may_have_executed);
        CHECK_U64 (rig_look (&rig, 0).load.depth, ==, 5);
        rig_advance (&rig, rig.now + rig.options.heartbeat_ns);
    }
    CHECK_U64 (rig_look (&rig, 0).state, ==, TIED_REPLICA_SUSPECT);
    rig_stop (&rig);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_copy_that_the_driver_refuses_is_no_sign_of_life),
        cmocka_unit_test (a_replica_is_up_after_its_welcome_and_greeted_until_then),
        cmocka_unit_test (replicas_beyond_the_maximum_are_refused),
        cmocka_unit_test (a_replica_of_another_name_is_never_used),
        cmocka_unit_test (silence_makes_a_replica_suspect_and_any_sign_of_life_restores_it),
        cmocka_unit_test (a_suspect_replica_loses_its_copies_but_may_still_answer),
        cmocka_unit_test (a_lost_tied_copy_is_issued_again_where_the_other_one_is),
        cmocka_unit_test (a_refused_reissue_gives_up_the_copy_that_was_there),
        cmocka_unit_test (a_primary_lost_before_the_stagger_is_issued_again_at_the_sibling),
        cmocka_unit_test (a_restart_under_us_loses_the_copies_there),
        cmocka_unit_test (a_lost_copy_of_a_call_that_is_not_idempotent_ends_it),
        cmocka_unit_test (losses_use_up_copies_max_and_then_end_the_call),
        cmocka_unit_test (losing_a_replica_with_many_copies_is_done_in_bounded_steps),
        cmocka_unit_test (a_call_waits_for_a_replica_and_leaves_when_one_is_up),
        cmocka_unit_test (a_call_that_waits_in_vain_is_unavailable_at_its_deadline),
        cmocka_unit_test (a_call_whose_only_replica_died_waits_for_its_successor),
        cmocka_unit_test (a_first_copy_that_could_not_be_sent_goes_elsewhere),
        cmocka_unit_test (a_call_that_no_replica_can_take_now_waits_for_a_sign_of_life),
        cmocka_unit_test (a_second_copy_that_could_not_be_sent_is_only_a_reason),
        cmocka_unit_test (stale_means_greet_again_and_send_every_kind_of_call_again),
        cmocka_unit_test (a_late_stale_does_not_take_down_the_new_incarnation),
        cmocka_unit_test (the_stagger_follows_the_slower_round_trip_within_its_limits),
        cmocka_unit_test (answers_tell_the_way_and_how_much_it_varies),
        cmocka_unit_test (an_answer_that_claims_more_time_than_passed_measures_nothing),
        cmocka_unit_test (hostile_echoes_do_not_move_the_estimate),
        cmocka_unit_test (RQ_05_a_load_report_fades_and_the_replica_is_eligible_again),
        cmocka_unit_test (RQ_05_old_reports_count_as_the_mean_of_all_replicas),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
