/* SPDX-License-Identifier: MIT */
/*
 * A scenario is a chain of documents: the one asked for, what it extends, and so on. The chain is
 * read first, then applied from its far end, so that the nearer document wins.
 */
#include "read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "scenario_form.h"
#include "tools/cli.h"
#include "workload/trace.h"
#include "yaml/document_file.h"

#include <tied/error.h>

TI_STATIC_ASSERT (SIM_WHY_MAX == TI_DOCUMENT_WHY_MAX, "one line fits both");
TI_STATIC_ASSERT (SIM_SCENARIO_BYTES_MAX == TI_DOCUMENT_BYTES_MAX, "one bound");

struct layer {
    char path[SIM_PATH_MAX]; /* files are relative to it */
    struct ti_document document;
};

struct chain {
    struct layer layers[SIM_EXTENDS_MAX]; /* 0: the one asked for */
    uint32_t count;
    struct sim_form form;
};

static int
add_layer (struct chain *chain, const char *path, const char *text, size_t size, char *why)
{
    struct layer *layer = &chain->layers[chain->count];
    int length = snprintf (layer->path, sizeof layer->path, "%s", path);
    if (length < 0 || (size_t)length >= sizeof layer->path) {
        snprintf (why, SIM_WHY_MAX, "%.80s...: the name is too long", path);
        return TIED_ERR_INVAL;
    }
    int rc = ti_document_read (path, text, size, &layer->document, why);
    if (rc == 0)
        chain->count++;
    return rc;
}

static int add_file (struct chain *chain, const char *path, char *why)
{
    char *text;
    size_t size;
    int rc = ti_document_read_file (path, &text, &size, why);
    if (rc == 0) {
        rc = add_layer (chain, path, text, size, why);
        free (text);
    }
    return rc;
}

/* What the last layer extends: a preset, or a file beside it. */
static int follow (struct chain *chain, const struct ti_node *node, char *why)
{
    const struct layer *last = &chain->layers[chain->count - 1];
    struct ti_reader reader = {
        .document = &last->document, .why = why, .path = "extends", .context = NULL};
    char path[SIM_PATH_MAX], quoted[TI_QUOTE_MAX];
    if (node->kind != TI_NODE_SCALAR || !node->text[0])
        return ti_reader_refuse (&reader, node, "the name of a preset or file is wanted");
    if (chain->count == SIM_EXTENDS_MAX)
        return ti_reader_refuse (&reader, node, "more than %d levels: does it extend itself?",
                                 SIM_EXTENDS_MAX);
    const struct sim_preset *preset = sim_preset_find (node->text);
    if (preset)
        return add_layer (chain, preset->name, preset->text, preset->size, why);
    if (!sim_path_beside (last->path, node->text, path))
        return ti_reader_refuse (&reader, node, "the name is too long");
    FILE *file = fopen (path, "rb");
    if (file) {
        fclose (file);
        return add_file (chain, path, why);
    }
    const char *nearest = sim_preset_nearest (node->text);
    return ti_reader_refuse (&reader, node, "%s is no preset, and as a file: %s%s%s%s",
                             ti_quote (node->text, quoted), strerror (errno),
                             nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                             nearest ? "\"?" : "");
}

static int read_chain (struct chain *chain, char *why)
{
    int rc = 0;
    while (rc == 0) {
        const struct ti_document *last = &chain->layers[chain->count - 1].document;
        const struct ti_node *node = ti_node_get (last, last->nodes, "extends");
        if (!node)
            return 0;
        rc = follow (chain, node, why);
    }
    return rc;
}

/* A scenario without a name has that of its file, without folder and ending. */
static void name_after_file (char name[SIM_NAME_MAX], const char *path)
{
    const char *slash = strrchr (path, '/');
    const char *base = slash ? slash + 1 : path;
    const char *dot = strrchr (base, '.');
    size_t length = dot && dot != base ? (size_t)(dot - base) : strlen (base);
    snprintf (name, SIM_NAME_MAX, "%.*s", (int)(length < SIM_NAME_MAX ? length : SIM_NAME_MAX - 1),
              base);
}

static int apply_layer (struct chain *chain, struct layer *layer, char *why)
{
    struct ti_reader reader = {
        .document = &layer->document, .context = layer->path, .why = why, .path = ""};
    sim_form_forget (&chain->form, &layer->document);
    name_after_file (chain->form.scenario.name, layer->path);
    int rc = ti_schema_apply (&sim_scenario_schema, &reader, &chain->form);
    return rc ? rc : sim_form_settle (&chain->form, &reader);
}

static int
load_table (const struct sim_file *file, enum sim_trace_use use, struct sim_table *out, char *why)
{
    char reason[SIM_WHY_MAX] = "";
    struct sim_trace_options options = {.path = file->path,
                                        .column = file->column[0] ? file->column : NULL,
                                        .use = use,
                                        .unit_ns = (double)file->unit_ns};
    if (!file->path[0])
        return 0;
    int rc = sim_trace_read (&options, out, reason);
    if (rc)
        snprintf (why, SIM_WHY_MAX, "%.110s: %.390s", file->where, reason);
    return rc;
}

static int load_tables (struct sim_form *form, char *why)
{
    struct sim_workload *workload = &form->scenario.workload;
    int rc = 0;
    if (workload->arrivals == SIM_ARRIVALS_TRACE)
        rc = load_table (&form->times, SIM_TRACE_TIMES, &workload->times, why);
    if (rc == 0)
        rc = load_table (&form->service, SIM_TRACE_SERVICE, &workload->service_table, why);
    if (rc == 0)
        rc = load_table (&form->pauses, SIM_TRACE_PAUSES, &form->scenario.replicas.pause_log, why);
    return rc;
}

/* Load 0.7 of servers that need no time would be any number of requests. */
static int check_rate (const struct sim_scenario *scenario, struct ti_reader *reader)
{
    if (scenario->workload.arrivals == SIM_ARRIVALS_CLOSED)
        return 0;
    if (scenario->workload.load > 0 && !(sim_scenario_mean_service_ns (scenario) > 0))
        return ti_reader_refuse_key (reader, "service",
                                     "takes no time, so no rate meets the load: give rate");
    if (sim_scenario_rate_per_s (scenario) > 0)
        return 0;
    return ti_reader_refuse_key (reader, "arrivals", "nothing arrives: give load or rate");
}

static int fill (struct chain *chain, char *why)
{
    struct layer *top = &chain->layers[0];
    struct ti_reader reader = {
        .document = &top->document, .context = top->path, .why = why, .path = ""};
    int rc = 0;
    for (uint32_t i = chain->count; rc == 0 && i-- > 0;)
        rc = apply_layer (chain, &chain->layers[i], why);
    if (rc == 0)
        rc = sim_form_check (&chain->form, &reader);
    if (rc == 0)
        rc = load_tables (&chain->form, why);
    return rc ? rc : check_rate (&chain->form.scenario, &reader);
}

static int no_memory (const char *name, char *why)
{
    snprintf (why, SIM_WHY_MAX, "%.160s: no memory", name);
    return TIED_ERR_NOMEM;
}

static int keep_source (struct sim_scenario *scenario, const char *text, size_t size)
{
    scenario->source = malloc (size + 1);
    if (!scenario->source)
        return TIED_ERR_NOMEM;
    memcpy (scenario->source, text, size);
    scenario->source[size] = '\0';
    return 0;
}

int sim_scenario_read_text (const char *name,
                            const char *text,
                            size_t size,
                            struct sim_scenario *out,
                            char why[SIM_WHY_MAX])
{
    struct chain *chain = calloc (1, sizeof *chain);
    if (!chain)
        return no_memory (name, why);
    sim_scenario_init (&chain->form.scenario);
    int rc = add_layer (chain, name, text, size, why);
    if (rc == 0)
        rc = read_chain (chain, why);
    if (rc == 0)
        rc = fill (chain, why);
    if (rc == 0 && keep_source (&chain->form.scenario, text, size))
        rc = no_memory (name, why);
    if (rc == 0)
        *out = chain->form.scenario;
    else
        sim_scenario_deinit (&chain->form.scenario);
    for (uint32_t i = 0; i < chain->count; i++)
        ti_document_deinit (&chain->layers[i].document);
    free (chain);
    return rc;
}

int sim_scenario_read_file (const char *path, struct sim_scenario *out, char why[SIM_WHY_MAX])
{
    char *text;
    size_t size;
    int rc = ti_document_read_file (path, &text, &size, why);
    if (rc == 0) {
        rc = sim_scenario_read_text (path, text, size, out, why);
        free (text);
    }
    return rc;
}

int sim_scenario_load (const char *preset_or_path, struct sim_scenario *out, char why[SIM_WHY_MAX])
{
    const struct sim_preset *preset = sim_preset_find (preset_or_path);
    char quoted[TI_QUOTE_MAX];
    if (preset)
        return sim_scenario_read_text (preset->name, preset->text, preset->size, out, why);
    if (access (preset_or_path, R_OK) == 0)
        return sim_scenario_read_file (preset_or_path, out, why);
    int error = errno;
    const char *nearest = sim_preset_nearest (preset_or_path);
    snprintf (why, SIM_WHY_MAX, "%s is no preset, and as a file: %s%s%s%s",
              ti_quote (preset_or_path, quoted), strerror (error),
              nearest ? "; did you mean \"" : "; tied-sim list shows the presets",
              nearest ? nearest : "", nearest ? "\"?" : "");
    return TIED_ERR_INVAL;
}
