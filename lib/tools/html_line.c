/* SPDX-License-Identifier: MIT */
/* How the line of a policy looks, in charts and beside its name. */
#include "html.h"

const char *ti_html_dash (uint32_t i)
{
    static const char *const dashes[TI_HTML_COLOURS] = {"7 4", "none", "2 3",     "10 3 2 3",
                                                        "1 4", "12 4", "5 2 1 2", "3 6"};
    /* The next round through the colours has other dashes. */
    return dashes[(i + 3 * (i / TI_HTML_COLOURS)) % TI_HTML_COLOURS];
}

void ti_html_swatch (uint32_t i, FILE *file)
{
    fprintf (file,
             "<svg class=\"swatch\" viewBox=\"0 0 28 10\" aria-hidden=\"true\">"
             "<line class=\"curve s%u\" stroke-dasharray=\"%s\" x1=\"0\" y1=\"5\" x2=\"28\" "
             "y2=\"5\"/></svg>",
             (unsigned)i % TI_HTML_COLOURS, ti_html_dash (i));
}
