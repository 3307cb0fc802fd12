/* SPDX-License-Identifier: MIT */
#include "zmq/endpoint.h"

#include <stdint.h>
#include <string.h>

#define PORT_MAX 65535u

bool ti_endpoint_has_port (const char *endpoint)
{
    const char *colon;
    uint32_t port = 0;

    if (strncmp (endpoint, "tcp://", 6) != 0)
        return true;
    /* The last colon; one inside "[::1]" leads to a ']', which is no digit. */
    colon = strrchr (endpoint + 6, ':');
    if (!colon || colon[1] == '\0')
        return false;
    if (strcmp (colon, ":*") == 0)
        return true;
    for (const char *c = colon + 1; *c; c++) {
        if (*c < '0' || *c > '9')
            return false;
        port = port * 10 + (uint32_t)(*c - '0');
        if (port > PORT_MAX)
            return false;
    }
    return true;
}
