/* SPDX-License-Identifier: MIT */
/* Text on the command line: ids, endpoints and pairs of the two. */
#include "cli.h"

#include <stdarg.h>
#include <string.h>

#include "text/id.h"
#include "zmq/endpoint.h"

#include <tied/error.h>

#define ZONE ",zone="

void ti_cli_keep (const char *program, int argc, char **argv, char *buffer, size_t size)
{
    size_t at = 0;
    buffer[0] = '\0';
    for (int i = 0; i < argc && at + 1 < size; i++) {
        int length = snprintf (buffer + at, size - at, "%s%s", i ? " " : "", i ? argv[i] : program);
        at += length > 0 ? (size_t)length : 0;
    }
}

int ti_cli_refuse (char why[TI_CLI_WHY_MAX], const char *format, ...)
{
    va_list args;
    va_start (args, format);
    vsnprintf (why, TI_CLI_WHY_MAX, format, args);
    va_end (args);
    return TIED_ERR_INVAL;
}

int ti_name_check (const char *text, char *why)
{
    size_t length = strnlen (text, TIED_NAME_MAX + 1);
    if (length == 0)
        return ti_cli_refuse (why, "the id is empty");
    if (length > TIED_NAME_MAX)
        return ti_cli_refuse (why, "the id is longer than %d bytes", TIED_NAME_MAX);
    if (text[0] == '-')
        return ti_cli_refuse (why, "an id does not start with '-'");
    if (!ti_is_id (text))
        return ti_cli_refuse (why, "an id is made of A-Z a-z 0-9 . _ -");
    return TIED_OK;
}

int ti_endpoint_check (const char *text, char *why)
{
    char quoted[TI_QUOTE_MAX];
    const char *separator = strstr (text, "://");
    if (!*text)
        return ti_cli_refuse (why, "the endpoint is empty; give one such as tcp://127.0.0.1:5555");
    if (strnlen (text, TI_ENDPOINT_MAX) == TI_ENDPOINT_MAX)
        return ti_cli_refuse (why, "the endpoint is longer than %d bytes", TI_ENDPOINT_MAX - 1);
    if (!separator)
        return ti_cli_refuse (why, "%s has no transport; write it as in tcp://127.0.0.1:5555",
                              ti_quote (text, quoted));
    if (separator == text || !separator[3])
        return ti_cli_refuse (why, "%s is not complete; write it as in tcp://127.0.0.1:5555",
                              ti_quote (text, quoted));
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c <= ' ' || *c == 0x7f)
            return ti_cli_refuse (why, "an endpoint has no blank or control character");
    if (!ti_endpoint_has_port (text))
        return ti_cli_refuse (why,
                              "%s has no port from 0 to 65535; write it as in tcp://127.0.0.1:5555",
                              ti_quote (text, quoted));
    return TIED_OK;
}

static int zone_check (const char *text, char *out, char *why)
{
    const int rc = ti_name_check (text, why);
    if (rc == TIED_OK)
        memcpy (out, text, strlen (text) + 1);
    return rc;
}

int ti_pair_parse (const char *text, struct ti_pair *out, char *why)
{
    struct ti_pair pair = {.id = "", .endpoint = "", .zone = ""};
    const char *equals = strchr (text, '=');
    const char *zone = equals ? strstr (equals, ZONE) : NULL;
    if (!equals)
        return ti_cli_refuse (why, "it has no '='; write ID=ENDPOINT as in a=tcp://127.0.0.1:5555");
    size_t id_length = (size_t)(equals - text);
    if (id_length > TIED_NAME_MAX)
        return ti_cli_refuse (why, "the id is longer than %d bytes", TIED_NAME_MAX);
    memcpy (pair.id, text, id_length);
    const char *endpoint = equals + 1;
    const size_t length = zone ? (size_t)(zone - endpoint) : strlen (endpoint);
    if (length >= sizeof pair.endpoint)
        return ti_endpoint_check (endpoint, why);
    memcpy (pair.endpoint, endpoint, length);
    int rc = ti_name_check (pair.id, why);
    if (rc == TIED_OK)
        rc = ti_endpoint_check (pair.endpoint, why);
    if (rc == TIED_OK && zone)
        rc = zone_check (zone + strlen (ZONE), pair.zone, why);
    if (rc)
        return rc;
    *out = pair;
    return TIED_OK;
}
