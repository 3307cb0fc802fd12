/* SPDX-License-Identifier: MIT */
/* An explained call as JSON; docs/json.md describes it. Change both or neither. */
#include "output/diagram.h"
#include "output/internal.h"

static void write_time (struct ti_json *json, const char *key, tied_duration_t ns)
{
    if (ns == TIED_NEVER)
        ti_json_null (json, key);
    else
        ti_json_ms (json, key, ns);
}

/* "client 0", "replica 3" */
static void write_actor (struct ti_json *json, const char *key, int actor)
{
    char name[32];

    snprintf (name, sizeof name, "%s %d", actor < 0 ? "client" : "replica",
              actor < 0 ? -1 - actor : actor);
    ti_json_string (json, key, name);
}

static void write_copies (const struct sim_explanation *explanation, struct ti_json *json)
{
    ti_json_array (json, "copies");
    for (uint32_t i = 0; i < SIM_EXPLAIN_COPIES_MAX; i++) {
        const struct sim_explain_copy *copy = &explanation->copies[i];

        if (!copy->is_sent)
            continue;
        ti_json_object (json, NULL);
        ti_json_u64 (json, "copy", i);
        write_actor (json, "replica", copy->replica);
        ti_json_bool (json, "answered_the_call", i == explanation->winner);
        write_time (json, "sent_ms", copy->sent);
        write_time (json, "arrived_ms", copy->arrived);
        write_time (json, "started_ms", copy->started);
        write_time (json, "finished_ms", copy->finished);
        write_time (json, "left_ms", copy->left);
        ti_json_string (json, "left_by", copy->why_left);
        ti_json_u64 (json, "depth", copy->depth);
        ti_json_end (json);
    }
    ti_json_end (json);
}

static void write_notes (const struct sim_explanation *explanation, struct ti_json *json)
{
    ti_json_array (json, "events");
    for (uint32_t i = 0; i < explanation->notes_count; i++) {
        const struct sim_note *note = &explanation->notes[i];

        ti_json_object (json, NULL);
        ti_json_ms (json, "at_ms", note->at);
        write_actor (json, "from", note->from);
        write_actor (json, "to", note->to);
        ti_json_string (json, "what", note->what);
        ti_json_u64 (json, "copy", note->copy);
        if (note->from == note->to && note->from >= 0)
            ti_json_u64 (json, "depth", note->depth);
        ti_json_end (json);
    }
    ti_json_end (json);
}

int sim_diagram_write_json (const struct sim_diagram *self, FILE *file)
{
    const struct sim_explanation *explanation = self->explanation;
    struct sim_explain_parts parts;
    struct ti_json json;
    char ppm[SIM_PPM_MAX];

    ti_json_init (&json, file, 2);
    ti_json_object (&json, NULL);
    ti_json_u64 (&json, "schema", 1);
    ti_json_string (&json, "program", "tied-sim explain");
    ti_json_string (&json, "scenario_name", self->scenario->name);
    ti_json_string (&json, "policy", self->policy->name);
    ti_json_string (&json, "figure", sim_format_ppm (self->ppm, ppm));
    ti_json_u64 (&json, "request", explanation->request);
    ti_json_u64 (&json, "requests", explanation->requests);
    ti_json_ms (&json, "latency_ms", explanation->latency_ns);
    write_time (&json, "hedge_ms", explanation->hedge_ns);
    if (sim_explain_parts (explanation, &parts)) {
        ti_json_object (&json, "parts");
        ti_json_ms (&json, "before_ms", parts.before_ns);
        ti_json_ms (&json, "network_ms", parts.network_ns);
        ti_json_ms (&json, "waited_ms", parts.waited_ns);
        ti_json_ms (&json, "served_ms", parts.served_ns);
        ti_json_ms (&json, "after_ms", parts.after_ns);
        ti_json_end (&json);
    } else {
        ti_json_null (&json, "parts");
    }
    write_copies (explanation, &json);
    write_notes (explanation, &json);
    ti_json_end (&json);
    return ti_json_finish (&json);
}
