/* SPDX-License-Identifier: MIT */
/* A note of the drivers (node.h) as one readable line with its virtual time. */
#ifndef TEST_TRANSCRIPT_H
#define TEST_TRANSCRIPT_H

#include "node.h"

/* Name of an actor, "c0" or "r1". Static. */
const char *transcript_actor (int actor);
/* Writes one line without newline; time is shown since `origin`. Returns as snprintf () does. */
int transcript_line (
    char *buffer, size_t size, const struct node_note *note, tied_time_t now, tied_time_t origin);

#endif
