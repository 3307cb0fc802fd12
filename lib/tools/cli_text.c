/* SPDX-License-Identifier: MIT */
/* Text on the command line: quoting, near misses, ids, endpoints and pairs of the two. */
#include "cli.h"

#include <stdarg.h>
#include <string.h>

#include "zmq/endpoint.h"

#include <tied/error.h>

const char *ti_cli_quote (const char *text, char buffer[TI_CLI_QUOTE_MAX])
{
    size_t at = 0;
    buffer[at++] = '"';
    for (; *text; text++) {
        /* Room for "\xNN", "..." and the end. */
        if (at + 4 + 3 + 2 > TI_CLI_QUOTE_MAX) {
            memcpy (buffer + at, "...", 3);
            at += 3;
            break;
        }
        unsigned char c = (unsigned char)*text;
        if (c < 0x20 || c >= 0x7f)
            at += (size_t)snprintf (buffer + at, 5, "\\x%02x", c);
        else
            buffer[at++] = *text;
    }
    buffer[at++] = '"';
    buffer[at] = '\0';
    return buffer;
}

void ti_cli_keep (const char *program, int argc, char **argv, char *buffer, size_t size)
{
    size_t at = 0;
    buffer[0] = '\0';
    for (int i = 0; i < argc && at + 1 < size; i++) {
        int length = snprintf (buffer + at, size - at, "%s%s", i ? " " : "", i ? argv[i] : program);
        at += length > 0 ? (size_t)length : 0;
    }
}

#define NEAREST_LENGTH_MAX 40

static size_t smaller (size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Optimal string alignment: insert, delete, replace, swap neighbours, each counts one. */
static size_t edit_distance (const char *a, const char *b)
{
    size_t rows[3][NEAREST_LENGTH_MAX + 1];
    size_t a_length = strlen (a), b_length = strlen (b);
    if (a_length > NEAREST_LENGTH_MAX || b_length > NEAREST_LENGTH_MAX)
        return NEAREST_LENGTH_MAX;
    size_t *before = rows[0], *last = rows[1], *now = rows[2];
    for (size_t j = 0; j <= b_length; j++)
        last[j] = before[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        now[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t best = last[j - 1] + (a[i - 1] != b[j - 1]);
            best = smaller (best, last[j] + 1);
            best = smaller (best, now[j - 1] + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = smaller (best, before[j - 2] + 1);
            now[j] = best;
        }
        size_t *free_row = before;
        before = last;
        last = now;
        now = free_row;
    }
    return last[b_length];
}

const char *ti_cli_nearest (const char *text, const char *const *names)
{
    const char *best = NULL;
    size_t length = strlen (text);
    size_t best_distance = length < 4 ? 2 : 3; /* accept less than this */
    for (; *names && length > 0 && length <= NEAREST_LENGTH_MAX; names++) {
        size_t distance = edit_distance (text, *names);
        /* The beginning of a name is as good as one slip. */
        if (length >= 2 && strncmp (text, *names, length) == 0)
            distance = 1;
        if (distance < best_distance && distance < length) {
            best = *names;
            best_distance = distance;
        }
    }
    return best;
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
    for (size_t i = 0; i < length; i++)
        if (text[i] <= ' ' || text[i] == '=' || text[i] == 0x7f)
            return ti_cli_refuse (why, "an id has no blank, '=' or control character and is ASCII");
    return TIED_OK;
}

int ti_endpoint_check (const char *text, char *why)
{
    char quoted[TI_CLI_QUOTE_MAX];
    const char *separator = strstr (text, "://");
    if (!*text)
        return ti_cli_refuse (why, "the endpoint is empty; give one such as tcp://127.0.0.1:5555");
    if (strnlen (text, TI_ENDPOINT_MAX) == TI_ENDPOINT_MAX)
        return ti_cli_refuse (why, "the endpoint is longer than %d bytes", TI_ENDPOINT_MAX - 1);
    if (!separator)
        return ti_cli_refuse (why, "%s has no transport; write it as in tcp://127.0.0.1:5555",
                              ti_cli_quote (text, quoted));
    if (separator == text || !separator[3])
        return ti_cli_refuse (why, "%s is not complete; write it as in tcp://127.0.0.1:5555",
                              ti_cli_quote (text, quoted));
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c <= ' ' || *c == 0x7f)
            return ti_cli_refuse (why, "an endpoint has no blank or control character");
    if (!ti_endpoint_has_port (text))
        return ti_cli_refuse (why,
                              "%s has no port from 0 to 65535; write it as in tcp://127.0.0.1:5555",
                              ti_cli_quote (text, quoted));
    return TIED_OK;
}

int ti_pair_parse (const char *text, struct ti_pair *out, char *why)
{
    struct ti_pair pair = {.id = "", .endpoint = ""};
    const char *equals = strchr (text, '=');
    if (!equals)
        return ti_cli_refuse (why, "it has no '='; write ID=ENDPOINT as in a=tcp://127.0.0.1:5555");
    size_t id_length = (size_t)(equals - text);
    if (id_length > TIED_NAME_MAX)
        return ti_cli_refuse (why, "the id is longer than %d bytes", TIED_NAME_MAX);
    memcpy (pair.id, text, id_length);
    int rc = ti_name_check (pair.id, why);
    if (rc == TIED_OK)
        rc = ti_endpoint_check (equals + 1, why);
    if (rc)
        return rc;
    memcpy (pair.endpoint, equals + 1, strlen (equals + 1));
    *out = pair;
    return TIED_OK;
}
