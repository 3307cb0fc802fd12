/* SPDX-License-Identifier: MIT */
/*
 * Golden transcripts: a story is a world whose notes go to a file in memory; its text must equal
 * tests/golden/<name>.txt. TIED_REWRITE=1 in the environment writes the file instead.
 */
#ifndef TEST_STORY_H
#define TEST_STORY_H

#include "world.h"

struct story {
    struct world_options options;
    struct world *world;
    FILE *file;
    char *text;
    size_t size;
};

/* Options for stories: 1 client, 2 replicas, 100 us one way, 5 ms service. */
void story_init (struct story *self);
/* Makes the world, has it greeted (which is left out of the text), and begins the text. */
void story_begin (struct story *self, const char *title);
/* A line of explanation. */
void story_say (struct story *self, const char *text);
/* Ends the world, checks the ledger, and compares or rewrites; fails the test on a difference. */
void story_end (struct story *self, const char *name);

#endif
