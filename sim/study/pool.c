/* SPDX-License-Identifier: MIT */
/* Threads, a window of results under way, and the order in which they are taken; see pool.h. */
#include "study/pool.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/util.h"
#include "engine/memory.h"
#include "tools/wall.h"

#include <tied/error.h>

/* Results for each thread: one that it fills, others that wait for an older one. */
#define WINDOW_PER_JOB 4
/* And for whole groups: of the next one some may be done before the last of this one is. */
#define GROUPS_UNDER_WAY 2
/* How often the caller hears of progress. */
#define PROGRESS_EVERY TIED_MS (200)

struct slot {
    struct sim_result result;
    bool is_done;
    int rc;
    char why[SIM_WHY_MAX];
};

/* Everything below `lock` is guarded by it; a slot belongs to its thread until it is done. */
struct pool {
    const struct sim_pool *given;
    tied_time_t start;
    struct slot *slots;
    uint64_t window;
    pthread_mutex_t lock;
    pthread_cond_t moved; /* a task was taken, or a thread has left */
    uint64_t next_run;
    uint64_t next_take;
    uint64_t end; /* no task from here on counts */
    uint32_t running;
    bool is_out_of_time;
    atomic_bool is_abandoned; /* one was: the rest of its group need not begin */
    int rc;
    char why[SIM_WHY_MAX];
};

static bool is_spent (const struct pool *pool)
{
    const struct sim_pool *given = pool->given;
    if (given->is_interrupted && given->is_interrupted ())
        return true;
    return given->budget_ns > 0 && ti_wall_now () - pool->start >= given->budget_ns;
}

static bool is_late (const struct pool *pool)
{
    return pool->next_run > 0 && pool->next_run % pool->given->group == 0 && is_spent (pool);
}

/* Locked. @return false: nothing is left to run */
static bool next_task (struct pool *pool, uint64_t *out)
{
    while (pool->next_run < pool->end && pool->next_run - pool->next_take >= pool->window)
        pthread_cond_wait (&pool->moved, &pool->lock);
    if (pool->next_run < pool->end && is_late (pool)) {
        pool->end = pool->next_run;
        pool->is_out_of_time = true;
    }
    if (pool->next_run >= pool->end)
        return false;
    *out = pool->next_run++;
    return true;
}

static struct slot *slot_of (struct pool *pool, uint64_t task)
{
    return &pool->slots[task % pool->window];
}

/* Locked. Of the group that comes next: whether all of it is done, and the first error in it. */
static bool is_group_done (struct pool *pool, uint64_t *out_bad)
{
    const uint64_t end = pool->next_take + pool->given->group;
    *out_bad = end;
    for (uint64_t task = pool->next_take; task < end; task++) {
        if (!slot_of (pool, task)->is_done)
            return false;
        if (slot_of (pool, task)->rc && *out_bad == end)
            *out_bad = task;
    }
    return true;
}

/* Locked. What lies beyond the end was begun before the end was known, and is dropped. */
static void take_ready (struct pool *pool)
{
    const struct sim_pool *given = pool->given;
    uint64_t bad;
    while (pool->next_take < pool->end && is_group_done (pool, &bad)) {
        const uint64_t end = pool->next_take + given->group;
        if (bad < end) {
            const struct slot *slot = slot_of (pool, bad);
            pool->end = pool->next_take;
            pool->is_out_of_time = pool->is_out_of_time || slot->rc == TIED_ERR_TIMEOUT;
            if (slot->rc != TIED_ERR_TIMEOUT) {
                pool->rc = slot->rc;
                memcpy (pool->why, slot->why, sizeof pool->why);
            }
        }
        while (pool->next_take < end && pool->next_take < pool->end) {
            struct slot *slot = slot_of (pool, pool->next_take);
            slot->is_done = false;
            if (!given->take (given->context, pool->next_take, &slot->result))
                pool->end = pool->next_take + 1;
            pool->next_take++;
        }
        pthread_cond_broadcast (&pool->moved);
    }
}

static int run_guarded (struct pool *pool, struct slot *slot, uint64_t task)
{
    struct sim_memory_guard guard;
    sim_memory_guard_enter (&guard);
    if (setjmp (guard.back) != 0)
        return TIED_ERR_SYSTEM; /* without a reason of its own it is memory */
    int rc = pool->given->run (pool->given->context, task, &slot->result, slot->why);
    sim_memory_guard_leave (&guard);
    return rc;
}

static void run_task (struct pool *pool, struct slot *slot, uint64_t task)
{
    slot->why[0] = '\0';
    if (atomic_load (&pool->is_abandoned)) {
        slot->rc = TIED_ERR_TIMEOUT;
        return;
    }
    sim_result_deinit (&slot->result);
    slot->rc = sim_result_init (&slot->result);
    if (slot->rc == TIED_OK)
        slot->rc = run_guarded (pool, slot, task);
    else
        memset (&slot->result, 0, sizeof slot->result);
    if (slot->rc == TIED_ERR_TIMEOUT)
        atomic_store (&pool->is_abandoned, true);
}

static void *work (void *argument)
{
    struct pool *pool = argument;
    uint64_t task;
    pthread_mutex_lock (&pool->lock);
    while (next_task (pool, &task)) {
        struct slot *slot = slot_of (pool, task);
        pthread_mutex_unlock (&pool->lock);
        run_task (pool, slot, task);
        pthread_mutex_lock (&pool->lock);
        slot->is_done = true;
        take_ready (pool);
    }
    pool->running--;
    pthread_cond_broadcast (&pool->moved);
    pthread_mutex_unlock (&pool->lock);
    return NULL;
}

static void wait_until_done (struct pool *pool)
{
    const struct sim_pool *given = pool->given;
    pthread_mutex_lock (&pool->lock);
    while (pool->running > 0) {
        tied_time_t now = ti_wall_now (), until = now + PROGRESS_EVERY;
        if (given->stop && is_spent (pool))
            atomic_store (given->stop, true);
        else if (given->stop && given->budget_ns > 0)
            until = ti_min (until, ti_time_add (pool->start, given->budget_ns));
        struct timespec time = {.tv_sec = (time_t)(until / TIED_S (1)),
                                .tv_nsec = (long)(until % TIED_S (1))};
        while (pool->running > 0 && pthread_cond_timedwait (&pool->moved, &pool->lock, &time) == 0)
            continue;
        uint64_t done = pool->next_take;
        pthread_mutex_unlock (&pool->lock);
        if (given->progress)
            given->progress (given->context, done, ti_wall_now () - pool->start);
        pthread_mutex_lock (&pool->lock);
    }
    pthread_mutex_unlock (&pool->lock);
}

/* @return how many threads work; at least one, or none at all */
static uint32_t start (struct pool *pool, pthread_t *threads)
{
    uint32_t count = 0;
    uint64_t wanted = ti_min (pool->given->jobs, pool->given->tasks);
    pthread_mutex_lock (&pool->lock);
    while (count < wanted && pthread_create (&threads[count], NULL, work, pool) == 0)
        count++;
    pool->running = count;
    pthread_mutex_unlock (&pool->lock);
    return count;
}

static int run (struct pool *pool)
{
    pthread_t threads[SIM_JOBS_MAX];
    pthread_condattr_t attributes;
    pthread_condattr_init (&attributes);
    pthread_condattr_setclock (&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init (&pool->lock, NULL);
    pthread_cond_init (&pool->moved, &attributes);
    uint32_t count = start (pool, threads);
    if (count == 0) {
        pool->rc = TIED_ERR_SYSTEM;
        snprintf (pool->why, sizeof pool->why, "no thread could be started; try --jobs 1");
    } else {
        wait_until_done (pool);
    }
    for (uint32_t i = 0; i < count; i++)
        pthread_join (threads[i], NULL);
    pthread_cond_destroy (&pool->moved);
    pthread_mutex_destroy (&pool->lock);
    pthread_condattr_destroy (&attributes);
    return pool->rc;
}

int sim_pool_run (const struct sim_pool *given, bool *out_of_time, char why[SIM_WHY_MAX])
{
    struct pool pool = {
        .given = given,
        .start = ti_wall_now (),
        .window = ti_max ((uint64_t)given->jobs * WINDOW_PER_JOB, given->group * GROUPS_UNDER_WAY),
        .end = given->tasks};
    pool.slots = calloc (pool.window, sizeof *pool.slots);
    if (!pool.slots) {
        snprintf (why, SIM_WHY_MAX, "out of memory");
        return TIED_ERR_SYSTEM;
    }
    int rc = run (&pool);
    if (rc)
        snprintf (why, SIM_WHY_MAX, "%s", pool.why[0] ? pool.why : "out of memory");
    *out_of_time = pool.is_out_of_time;
    for (uint64_t i = 0; i < pool.window; i++)
        sim_result_deinit (&pool.slots[i].result);
    free (pool.slots);
    return rc;
}
