/* SPDX-License-Identifier: MIT */
/*
 * The port of a tcp endpoint. libzmq takes what strtol () makes of it: "5x" is 5 and 99999 is some
 * other port. Everything else about endpoints is libzmq's to judge.
 */
#ifndef TI_ENDPOINT_H
#define TI_ENDPOINT_H

#include <stdbool.h>

/* True for "tcp://...:PORT" with PORT "*" or 0 to 65535, and for every other transport. */
bool ti_endpoint_has_port (const char *endpoint);

#endif
