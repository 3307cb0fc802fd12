/* SPDX-License-Identifier: MIT */
/* Keys that exclude, replace or complete each other, one document at a time. */
#include "scenario_form.h"

#include <string.h>

/* NULL also when the map is written in its short form. */
static const struct ti_node *
find (const struct ti_document *document, const char *first, const char *second)
{
    const struct ti_node *node = ti_node_get (document, document->nodes, first);
    return node && second ? ti_node_get (document, node, second) : node;
}

static bool has (const struct ti_document *document, const char *first, const char *second)
{
    return find (document, first, second) != NULL;
}

static void forget_file (struct sim_file *file)
{
    memset (file, 0, sizeof *file);
}

static void forget_service (struct sim_form *form, const struct ti_document *document)
{
    const struct ti_node *service = find (document, "service", NULL);
    if (!service || (service->kind == TI_NODE_MAP && !has (document, "service", "table") &&
                     !has (document, "service", "dist")))
        return;
    forget_file (&form->service);
    form->scenario.workload.service_in_order = false;
}

static void forget_pauses (struct sim_form *form, const struct ti_document *document)
{
    const struct ti_node *replicas = find (document, "replicas", NULL);
    const struct ti_node *pause = replicas ? ti_node_get (document, replicas, "pause") : NULL;
    if (!pause)
        return;
    if (ti_node_get (document, pause, "log")) {
        forget_file (&form->pauses);
        form->scenario.replicas.pause = (struct ti_pause){.gap_ns = 0};
    } else if (ti_node_get (document, pause, "gap")) {
        forget_file (&form->pauses);
    }
}

/* A figure from a paper is of the paper's scenario: what else runs, and how long, may differ. */
static void forget_published (struct sim_form *form, const struct ti_document *document)
{
    static const char *const harmless[] = {"extends",   "name",   "title", "policies",
                                           "published", "amount", "sweep", NULL};
    const struct ti_node *child = ti_node_first (document, document->nodes);
    for (; child; child = ti_node_next (document, child)) {
        uint32_t i = 0;
        while (harmless[i] && strcmp (harmless[i], child->key) != 0)
            i++;
        if (!harmless[i])
            form->scenario.published_count = 0;
    }
}

void sim_form_forget (struct sim_form *form, const struct ti_document *document)
{
    if (document->nodes->kind != TI_NODE_MAP)
        return;
    if (has (document, "arrivals", "file"))
        forget_file (&form->times);
    forget_service (form, document);
    forget_pauses (form, document);
    forget_published (form, document);
}

static int settle_load (struct sim_workload *workload, struct ti_reader *reader)
{
    const struct ti_document *document = reader->document;
    bool has_load = has (document, "load", NULL), has_rate = has (document, "rate", NULL);
    if (has_load && has_rate)
        return ti_reader_refuse_key (reader, "rate", "there is load as well: give one of them");
    if (workload->arrivals == SIM_ARRIVALS_CLOSED && (has_load || has_rate))
        return ti_reader_refuse_key (reader, has_load ? "load" : "rate",
                                     "has no effect: in a closed loop users and think decide");
    if (has_load)
        workload->rate_per_s = 0;
    else if (has_rate)
        workload->load = 0;
    else if (workload->arrivals == SIM_ARRIVALS_TRACE && has (document, "arrivals", NULL))
        workload->load = workload->rate_per_s = 0;
    return 0;
}

static int settle_alternatives (struct ti_reader *reader)
{
    const struct ti_document *document = reader->document;
    const struct ti_node *replicas = find (document, "replicas", NULL);
    const struct ti_node *pause = replicas ? ti_node_get (document, replicas, "pause") : NULL;
    if (has (document, "service", "dist") && has (document, "service", "table"))
        return ti_reader_refuse_key (reader, "service.table",
                                     "there is dist as well: give one of them");
    if (pause && ti_node_get (document, pause, "log") &&
        (ti_node_get (document, pause, "gap") || ti_node_get (document, pause, "length")))
        return ti_reader_refuse_key (reader, "replicas.pause.log",
                                     "there is gap or length as well: give one or the other");
    return 0;
}

/* Between replicas it is as between client and replica, unless something else is said. */
static void settle_network (struct sim_network *network, const struct ti_document *document)
{
    if (has (document, "network", "delay") && !has (document, "network", "peer_delay"))
        network->peer.fixed_ns = network->client.fixed_ns;
    if (has (document, "network", "extra") && !has (document, "network", "peer_extra")) {
        network->peer.extra = network->client.extra;
        network->peer.has_extra = network->client.has_extra;
    }
}

static bool is_policy (const struct sim_scenario *scenario, const char *name)
{
    for (uint32_t i = 0; i < scenario->policies_count; i++)
        if (strcmp (scenario->policies[i].name, name) == 0)
            return true;
    return false;
}

/* Inherited figures of policies that do not run any more go; own ones are checked later. */
static void settle_published (struct sim_scenario *scenario, const struct ti_document *document)
{
    uint32_t kept = 0;
    if (has (document, "published", NULL))
        return;
    for (uint32_t i = 0; i < scenario->published_count; i++)
        if (is_policy (scenario, scenario->published[i].policy))
            scenario->published[kept++] = scenario->published[i];
    scenario->published_count = kept;
}

int sim_form_settle (struct sim_form *form, struct ti_reader *reader)
{
    int rc = settle_load (&form->scenario.workload, reader);
    if (rc == 0)
        rc = settle_alternatives (reader);
    settle_network (&form->scenario.network, reader->document);
    settle_published (&form->scenario, reader->document);
    return rc;
}
