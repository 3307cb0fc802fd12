/* SPDX-License-Identifier: MIT */
#include "scenario_values.h"

#include <string.h>

#include "base/hist.h"
#include "policy_text.h"
#include "scenario_form.h"
#include "tools/cli.h"
#include "text/units.h"

#include <tied/error.h>

bool sim_path_beside (const char *beside, const char *name, char path[SIM_PATH_MAX])
{
    const char *slash = strrchr (beside, '/');
    size_t folder = name[0] == '/' || !slash ? 0 : (size_t)(slash - beside) + 1;
    int length = snprintf (path, SIM_PATH_MAX, "%.*s%s", (int)folder, beside, name);
    return length > 0 && length < SIM_PATH_MAX;
}

static int parse_dist (struct ti_reader *reader, const struct ti_node *node, struct ti_dist *out)
{
    char why[TI_DIST_WHY_MAX];
    if (ti_dist_parse (node->text, out, why) == 0)
        return 0;
    return ti_reader_refuse (reader, node, "%s", why);
}

int sim_parse_dist (struct ti_reader *reader,
                    const struct ti_field *field,
                    const struct ti_node *node,
                    void *base)
{
    struct ti_dist dist;
    int rc = parse_dist (reader, node, &dist);
    if (rc)
        return rc;
    memcpy ((unsigned char *)base + field->offset, &dist, sizeof dist);
    return 0;
}

/* Of struct sim_delay. */
int sim_parse_extra (struct ti_reader *reader,
                     const struct ti_field *field,
                     const struct ti_node *node,
                     void *base)
{
    struct sim_delay *delay = (struct sim_delay *)(void *)((unsigned char *)base + field->offset);
    delay->has_extra = strcmp (node->text, "none") != 0;
    return delay->has_extra ? parse_dist (reader, node, &delay->extra) : 0;
}

/* A name relative to the scenario's own file, whose path is the reader's context. */
int sim_parse_file (struct ti_reader *reader,
                    const struct ti_field *field,
                    const struct ti_node *node,
                    void *base)
{
    struct sim_file *file = (struct sim_file *)(void *)((unsigned char *)base + field->offset);
    if (!sim_path_beside (reader->context, node->text, file->path))
        return ti_reader_refuse (reader, node, "the name is too long");
    snprintf (file->where, sizeof file->where, "%s:%u:%u", reader->document->name, node->line,
              node->column);
    return 0;
}

int sim_parse_policy_kind (struct ti_reader *reader,
                           const struct ti_field *field,
                           const struct ti_node *node,
                           void *base)
{
    char why[SIM_POLICY_WHY_MAX];
    (void)field;
    if (sim_policy_parse (node->text, base, why))
        return ti_reader_refuse (reader, node, "%s", why);
    return 0;
}

int sim_parse_hedge (struct ti_reader *reader,
                     const struct ti_field *field,
                     const struct ti_node *node,
                     void *base)
{
    char quoted[TI_QUOTE_MAX];
    (void)field;
    if (sim_hedge_parse (node->text, base) == 0)
        return 0;
    return ti_reader_refuse (reader, node,
                             "%s is no delay: write a percentile such as p95, or a duration in "
                             "[0s, 1h]",
                             ti_quote (node->text, quoted));
}

/* A fixed-point number. */
static int store_u32 (struct ti_reader *reader,
                      const struct ti_field *field,
                      const struct ti_node *node,
                      void *base,
                      bool is_good,
                      uint32_t value,
                      const char *wanted)
{
    char quoted[TI_QUOTE_MAX];
    if (!is_good)
        return ti_reader_refuse (reader, node, "%s is no %s", ti_quote (node->text, quoted),
                                 wanted);
    memcpy ((unsigned char *)base + field->offset, &value, sizeof value);
    return 0;
}

int sim_parse_ppm (struct ti_reader *reader,
                   const struct ti_field *field,
                   const struct ti_node *node,
                   void *base)
{
    uint32_t ppm = 0;
    const bool is_good = ti_share_parse (node->text, &ppm) == 0;
    return store_u32 (reader, field, node, base, is_good, ppm,
                      "share: write a percentage such as 5%, up to 100%");
}

int sim_parse_milli (struct ti_reader *reader,
                     const struct ti_field *field,
                     const struct ti_node *node,
                     void *base)
{
    double value = 0;
    const bool is_good = ti_parse_real (node->text, &value) == 0 && value <= 1e6;
    return store_u32 (reader, field, node, base, is_good, (uint32_t)(value * 1000 + 0.5),
                      "number from 0 to 1e6");
}

int sim_parse_probation (struct ti_reader *reader,
                         const struct ti_field *field,
                         const struct ti_node *node,
                         void *base)
{
    double value = 0;
    const bool is_good =
        ti_parse_real (node->text, &value) == 0 && (value == 0 || (value >= 1.5 && value <= 1000));
    return store_u32 (reader, field, node, base, is_good, (uint32_t)(value * 1000 + 0.5),
                      "factor: write 0, or a number from 1.5 to 1000");
}

int sim_parse_target (struct ti_reader *reader,
                      const struct ti_field *field,
                      const struct ti_node *node,
                      void *base)
{
    uint32_t ppm = 0;
    const bool is_good = ti_percentile_parse (node->text, &ppm) == 0 && ppm >= TIED_PPM / 2;
    return store_u32 (reader, field, node, base, is_good, ppm,
                      "target: write a percentile from p50 on, such as p99.9");
}

int sim_parse_percentile (struct ti_reader *reader,
                          const struct ti_field *field,
                          const struct ti_node *node,
                          void *base)
{
    struct sim_published *published = base;
    char quoted[TI_QUOTE_MAX];
    uint32_t ppm = 0;
    (void)field;
    /* Those that the tables show, so that the figures are the same. */
    static const uint32_t shown[] = {TI_HIST_P50, TI_HIST_P90, TI_HIST_P95, TI_HIST_P99,
                                     TI_HIST_P99_9};
    bool is_known = strcmp (node->text, "mean") == 0;
    if (!is_known && ti_percentile_parse (node->text, &ppm) == 0)
        for (uint32_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
            is_known = is_known || shown[i] == ppm;
    if (!is_known)
        return ti_reader_refuse (reader, node,
                                 "%s is unknown: write mean, p50, p90, p95, p99 or p99.9",
                                 ti_quote (node->text, quoted));
    published->ppm = ppm;
    return 0;
}

int sim_parse_ms (struct ti_reader *reader,
                  const struct ti_field *field,
                  const struct ti_node *node,
                  void *base)
{
    char quoted[TI_QUOTE_MAX];
    uint64_t ns = 0;
    (void)field;
    int error = ti_parse_duration (node->text, &ns);
    if (error || ns == 0)
        return ti_reader_refuse (reader, node, "%s %s: give a duration such as 42ms",
                                 ti_quote (node->text, quoted),
                                 error ? ti_units_text (error) : "is nothing");
    ((struct sim_published *)base)->ms = (double)ns / 1e6;
    return 0;
}

/* It has been followed already, before any key was read. */
int sim_parse_extends (struct ti_reader *reader,
                       const struct ti_field *field,
                       const struct ti_node *node,
                       void *base)
{
    (void)reader;
    (void)field;
    (void)node;
    (void)base;
    return 0;
}

void sim_published_init (void *item)
{
    *(struct sim_published *)item = (struct sim_published){.ppm = 990000};
}

void sim_policy_item_init (void *item)
{
    sim_policy_init (item, SIM_POLICY_SINGLE);
}
