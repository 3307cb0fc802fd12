/* SPDX-License-Identifier: MIT */
/* What somebody wrote, in a message to them: quoted, and what they may have meant. */
#ifndef TI_QUOTE_H
#define TI_QUOTE_H

#define TI_QUOTE_MAX 96
/* text in double quotes, cut at a bounded length, bytes that are not printable ASCII as \xNN.
 * @return buffer */
const char *ti_quote (const char *text, char buffer[TI_QUOTE_MAX]);

/* Make one line of text that can be shown: control characters and bytes that are not UTF-8 become
 * '?'. @return text */
char *ti_plain (char *text);

/* The candidate that text was probably meant to be, NULL if none is near. names ends with NULL. */
const char *ti_nearest (const char *text, const char *const *names);

#endif
