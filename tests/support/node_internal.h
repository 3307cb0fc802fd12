/* SPDX-License-Identifier: MIT */
/* What the files of the replica driver (node.h) share. */
#ifndef TEST_NODE_INTERNAL_H
#define TEST_NODE_INTERNAL_H

#include "node.h"

void node_replica_note (const struct node_replica *self,
                        enum node_note_kind kind,
                        int other,
                        const struct tied_call_id *call,
                        uint8_t copy,
                        uint8_t reason,
                        int cause);
void node_replica_send (struct node_replica *self,
                        uint32_t client,
                        const struct tied_message *message,
                        int cause);
int node_replica_step (struct node_replica *self,
                       const struct tied_replica_event *event,
                       const unsigned char *body,
                       int from,
                       tied_time_t now);

#endif
