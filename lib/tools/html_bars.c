/* SPDX-License-Identifier: MIT */
/* The price of each policy as bars: copies, executions, calls that ran twice or failed. */
#include "html.h"

#include <math.h>

#define WIDTH       340
#define NAME_RIGHT  104.0
#define BAR_LEFT    112.0
#define BAR_RIGHT   282.0
#define TITLE_SPACE 26.0
#define PANEL_GAP   26.0
#define NAME_CUT    14

struct panel {
    const char *title;
    const char *unit;
    int decimals;
    double least_scale; /* the full width stands for at least this */
    double (*value) (const struct ti_report_policy *policy);
};

static double copies (const struct ti_report_policy *policy)
{
    return ti_report_per_call (policy, policy->copies);
}

static double executions (const struct ti_report_policy *policy)
{
    return ti_report_per_call (policy, policy->executions);
}

static double duplicates_percent (const struct ti_report_policy *policy)
{
    return 100 * ti_report_per_call (policy, policy->duplicates);
}

static double not_answered_percent (const struct ti_report_policy *policy)
{
    uint64_t answered =
        policy->outcomes[TIED_OUTCOME_OK] + policy->outcomes[TIED_OUTCOME_APP_ERROR];
    uint64_t missing = policy->calls > answered ? policy->calls - answered : 0;
    return 100 * ti_report_per_call (policy, missing);
}

static const struct panel panels[] = {
    {"copies sent per call", "", 2, 2, copies},
    {"executions per call", "", 3, 2, executions},
    {"calls executed twice", " %", 2, 2, duplicates_percent},
    {"calls not answered", " %", 2, 2, not_answered_percent},
};
#define PANELS_COUNT (sizeof panels / sizeof panels[0])

/* Names that are too long for the column keep their beginning. */
static void draw_name (const char *name, double y, FILE *file)
{
    char shown[NAME_CUT + 1];
    size_t length = 0;
    while (length < NAME_CUT && name[length]) {
        char c = name[length];
        shown[length++] = c >= ' ' && c <= '~' ? c : '?';
    }
    shown[length] = '\0';
    fprintf (file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">", NAME_RIGHT, y);
    ti_html_text (file, shown);
    fputs (name[length] ? "&#8230;</text>" : "</text>", file);
}

static void draw_panel (const struct ti_report_policy *policies,
                        uint32_t count,
                        const struct panel *panel,
                        double top,
                        double row_height,
                        FILE *file)
{
    double full = panel->least_scale;
    for (uint32_t i = 0; i < count; i++)
        full = fmax (full, panel->value (&policies[i]));
    fprintf (file, "<text class=\"title\" x=\"0\" y=\"%.1f\">%s</text>\n",
             top + TITLE_SPACE / 2 + 1, panel->title);
    for (uint32_t i = 0; i < count; i++) {
        double value = panel->value (&policies[i]);
        double y = top + TITLE_SPACE + i * row_height;
        double width = (BAR_RIGHT - BAR_LEFT) * value / full;
        draw_name (policies[i].policy, y + row_height / 2 + 3, file);
        fprintf (file,
                 "<rect class=\"bar s%u\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
                 "rx=\"2\"/><text class=\"value\" x=\"%.1f\" y=\"%.1f\">%.*f%s</text>\n",
                 (unsigned)i % TI_HTML_COLOURS, BAR_LEFT, y + 1, fmax (width, 1), row_height - 5,
                 BAR_LEFT + fmax (width, 1) + 7, y + row_height / 2 + 3, panel->decimals, value,
                 panel->unit);
    }
}

void ti_html_bars (const struct ti_report *self, uint32_t first, uint32_t count, FILE *file)
{
    double row_height = count <= 3 ? 27 : 19;
    double panel_height = TITLE_SPACE + row_height * count + PANEL_GAP;
    fprintf (file,
             "<svg class=\"bars\" viewBox=\"0 0 %d %.0f\" role=\"img\">\n"
             "<title>Copies, executions and duplicates of each policy</title>\n",
             WIDTH, panel_height * PANELS_COUNT);
    for (uint32_t i = 0; i < PANELS_COUNT; i++)
        draw_panel (&self->policies[first], count, &panels[i], i * panel_height, row_height, file);
    fputs ("</svg>\n", file);
}
