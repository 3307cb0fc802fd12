/* SPDX-License-Identifier: MIT */
/* Reading service specifications: a name, parentheses, one to eight values. */
#include "dist.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "portable.h"
#include "text/units.h"

#include <tied/error.h>

#define ARGUMENTS_MAX TI_DIST_STEPS_MAX
#define ARGUMENT_MAX  32
#define FORM_MAX      3

enum argument_type {
    DURATION,          /* [0, TI_DIST_MAX_NS] */
    POSITIVE_DURATION, /* not 0 */
    PROBABILITY,       /* [0, 1] */
    ALPHA,             /* [1.01, 100] */
    ANY_ALPHA,         /* [0.01, 100] */
    SHAPE,             /* [0.1, 100] */
    TAIL_SHAPE,        /* [0.001, 0.99] */
    CV2                /* [1, 1e6] */
};

struct form {
    const char *name;
    enum ti_dist_kind kind;
    uint32_t count;
    enum argument_type types[FORM_MAX];
    const char *example;
};

static const struct form forms[] = {
    {"fixed", TI_DIST_FIXED, 1, {DURATION}, "fixed(5ms)"},
    {"exp", TI_DIST_EXP, 1, {DURATION}, "exp(10ms)"},
    {"uniform", TI_DIST_UNIFORM, 2, {DURATION, DURATION}, "uniform(1ms,9ms)"},
    {"bimodal", TI_DIST_BIMODAL, 3, {DURATION, DURATION, PROBABILITY}, "bimodal(5ms,200ms,0.01)"},
    {"lognormal", TI_DIST_LOGNORMAL, 2, {POSITIVE_DURATION, DURATION}, "lognormal(10ms,20ms)"},
    {"pareto", TI_DIST_PARETO, 2, {POSITIVE_DURATION, ALPHA}, "pareto(2ms,1.5)"},
    {"shifted", TI_DIST_SHIFTED, 2, {DURATION, DURATION}, "shifted(2ms,8ms)"},
    {"weibull", TI_DIST_WEIBULL, 2, {POSITIVE_DURATION, SHAPE}, "weibull(10ms,0.5)"},
    {"bounded_pareto",
     TI_DIST_BOUNDED_PARETO,
     3,
     {POSITIVE_DURATION, POSITIVE_DURATION, ANY_ALPHA},
     "bounded_pareto(1ms,10s,1.1)"},
    {"gpareto",
     TI_DIST_GPARETO,
     3,
     {DURATION, POSITIVE_DURATION, TAIL_SHAPE},
     "gpareto(0s,16us,0.15)"},
    {"hyper", TI_DIST_HYPER, 2, {DURATION, CV2}, "hyper(10ms,4)"},
    {"h2", TI_DIST_H2, 3, {PROBABILITY, DURATION, DURATION}, "h2(0.95,1ms,10ms)"},
    {"steps", TI_DIST_STEPS, 0, {DURATION}, "steps(1ms:0.9,10ms:0.09,100ms:0.01)"},
};
#define FORMS_COUNT (sizeof forms / sizeof forms[0])

static int refuse (char *why, const char *format, ...) __attribute__ ((format (printf, 2, 3)));

static int refuse (char *why, const char *format, ...)
{
    va_list args;
    va_start (args, format);
    vsnprintf (why, TI_DIST_WHY_MAX, format, args);
    va_end (args);
    return TIED_ERR_INVAL;
}

static int parse_duration (const char *text, uint64_t *out, char *why)
{
    char quoted[TI_QUOTE_MAX];
    uint64_t ns;
    int rc = ti_parse_duration (text, &ns);
    if (rc == TI_UNITS_NO_UNIT)
        return refuse (why, "%s has no unit: write %.16sms or %.16ss", ti_quote (text, quoted),
                       text, text);
    if (rc)
        return refuse (why, "%s %s: give a duration such as 250us, 5ms or 1.5s",
                       ti_quote (text, quoted), ti_units_text (rc));
    if (ns > TI_DIST_MAX_NS)
        return refuse (why, "%s is longer than 1h", ti_quote (text, quoted));
    *out = ns;
    return TIED_OK;
}

static int parse_real (const char *text, double min, double max, double *out, char *why)
{
    char quoted[TI_QUOTE_MAX];
    int rc = ti_parse_real (text, out);
    if (rc || *out < min || *out > max)
        return refuse (why, "%s %s: give a number from %g to %g", ti_quote (text, quoted),
                       rc ? ti_units_text (rc) : "is out of range", min, max);
    return TIED_OK;
}

static int parse_argument (
    const char *text, enum argument_type type, uint64_t *out_ns, double *out_real, char *why)
{
    int rc;
    switch (type) {
    case DURATION:
        return parse_duration (text, out_ns, why);
    case POSITIVE_DURATION:
        rc = parse_duration (text, out_ns, why);
        if (rc == TIED_OK && *out_ns == 0)
            return refuse (why, "a duration of 0 is not possible here");
        return rc;
    case PROBABILITY:
        return parse_real (text, 0, 1, out_real, why);
    case ALPHA:
        return parse_real (text, 1.01, 100, out_real, why);
    case ANY_ALPHA:
        return parse_real (text, 0.01, 100, out_real, why);
    case SHAPE:
        return parse_real (text, 0.1, 100, out_real, why);
    case TAIL_SHAPE:
        return parse_real (text, 0.001, 0.99, out_real, why);
    case CV2:
        return parse_real (text, 1, 1e6, out_real, why);
    }
    return TIED_ERR_INVAL;
}

/* Copy the pieces between commas; text ends with ')'. @return how many, -1 if it is no such list */
static int split (const char *text, char pieces[ARGUMENTS_MAX][ARGUMENT_MAX])
{
    int count = 0;
    size_t length = strlen (text);
    if (length == 0 || text[length - 1] != ')')
        return -1;
    const char *end = text + length - 1;
    for (;;) {
        const char *comma = memchr (text, ',', (size_t)(end - text));
        size_t size = (size_t)((comma ? comma : end) - text);
        if (count == ARGUMENTS_MAX || size >= ARGUMENT_MAX)
            return -1;
        memcpy (pieces[count], text, size);
        pieces[count++][size] = '\0';
        if (!comma)
            return count;
        text = comma + 1;
    }
}

static const struct form *find_form (const char *text, size_t length)
{
    for (size_t i = 0; i < FORMS_COUNT; i++)
        if (strlen (forms[i].name) == length && memcmp (forms[i].name, text, length) == 0)
            return &forms[i];
    return NULL;
}

static int refuse_name (const char *text, size_t length, char *why)
{
    char name[ARGUMENT_MAX] = "";
    char quoted[TI_QUOTE_MAX];
    const char *names[FORMS_COUNT + 1] = {NULL};
    for (size_t i = 0; i < FORMS_COUNT; i++)
        names[i] = forms[i].name;
    snprintf (name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name), text);
    const char *nearest = ti_nearest (name, names);
    if (nearest)
        return refuse (why, "%s is not a distribution; did you mean %s?", ti_quote (name, quoted),
                       nearest);
    char list[TI_DIST_WHY_MAX / 2 + 32] = "";
    for (size_t i = 0, used = 0; i < FORMS_COUNT; i++)
        used += (size_t)snprintf (list + used, sizeof list - used, " %s", names[i]);
    return refuse (why, "%s is not one of%s", ti_quote (name, quoted), list);
}

/* What the values must be to each other, and the parameters that are computed once. */
static int finish (struct ti_dist *dist, char *why)
{
    if (dist->kind == TI_DIST_UNIFORM && dist->a_ns > dist->b_ns)
        return refuse (why, "uniform(LOW,HIGH): LOW is larger than HIGH");
    if (dist->kind == TI_DIST_BIMODAL && dist->a_ns > dist->b_ns)
        return refuse (why, "bimodal(SHORT,LONG,P): SHORT is larger than LONG");
    if (dist->kind == TI_DIST_BOUNDED_PARETO && dist->a_ns > dist->b_ns)
        return refuse (why, "bounded_pareto(MIN,MAX,ALPHA): MIN is larger than MAX");
    if (dist->kind == TI_DIST_LOGNORMAL) {
        double ratio = (double)dist->b_ns / (double)dist->a_ns;
        double variance = ti_log1p (ratio * ratio);
        dist->sigma = sqrt (variance);
        dist->mu = ti_log ((double)dist->a_ns) - variance / 2;
    }
    if (dist->kind == TI_DIST_BOUNDED_PARETO)
        dist->mu = ti_pow ((double)dist->a_ns / (double)dist->b_ns, dist->p);
    if (dist->kind == TI_DIST_HYPER)
        dist->mu = (1 + sqrt ((dist->p - 1) / (dist->p + 1))) / 2;
    return TIED_OK;
}

/* VALUE:PROBABILITY */
static int parse_step (struct ti_dist *dist, char *text, char *why)
{
    char *colon = strchr (text, ':');
    double share;
    if (!colon)
        return refuse (why,
                       "steps(V1:P1,V2:P2,...): each is a duration, a colon and a probability");
    *colon = '\0';
    uint32_t i = dist->steps++;
    int rc = parse_duration (text, &dist->step_ns[i], why);
    if (rc == TIED_OK)
        rc = parse_real (colon + 1, 0, 1, &share, why);
    if (rc)
        return rc;
    if (i > 0 && dist->step_ns[i] <= dist->step_ns[i - 1])
        return refuse (why, "steps(V1:P1,V2:P2,...): the values must rise");
    dist->step_cdf[i] = share + (i > 0 ? dist->step_cdf[i - 1] : 0);
    return TIED_OK;
}

static int
parse_steps (char pieces[ARGUMENTS_MAX][ARGUMENT_MAX], int count, struct ti_dist *out, char *why)
{
    struct ti_dist dist = {.kind = TI_DIST_STEPS};
    for (int i = 0; i < count; i++) {
        int rc = parse_step (&dist, pieces[i], why);
        if (rc)
            return rc;
    }
    /* Thirds do not end: the last one takes what is missing. */
    double sum = dist.step_cdf[dist.steps - 1];
    if (sum < 1 - 1e-3 || sum > 1 + 1e-9)
        return refuse (why, "steps(V1:P1,V2:P2,...): the probabilities sum to %g, not to 1", sum);
    *out = dist;
    return TIED_OK;
}

int ti_dist_parse (const char *text, struct ti_dist *out, char *why)
{
    size_t length = strcspn (text, "(");
    const struct form *form = find_form (text, length);
    if (!form)
        return refuse_name (text, length, why);
    char pieces[ARGUMENTS_MAX][ARGUMENT_MAX];
    int count = text[length] ? split (text + length + 1, pieces) : -1;
    if (form->kind == TI_DIST_STEPS) {
        if (count < 1)
            return refuse (why, "steps takes 1 to %d values in parentheses, as in %s",
                           TI_DIST_STEPS_MAX, form->example);
        return parse_steps (pieces, count, out, why);
    }
    if (count != (int)form->count)
        return refuse (why, "%s takes %u value%s in parentheses, as in %s", form->name,
                       (unsigned)form->count, form->count == 1 ? "" : "s", form->example);
    struct ti_dist dist = {.kind = form->kind};
    uint64_t *target = &dist.a_ns;
    for (uint32_t i = 0; i < form->count; i++) {
        bool is_duration = form->types[i] == DURATION || form->types[i] == POSITIVE_DURATION;
        int rc = parse_argument (pieces[i], form->types[i], target, &dist.p, why);
        if (rc)
            return rc;
        if (is_duration)
            target = &dist.b_ns;
    }
    int rc = finish (&dist, why);
    if (rc == TIED_OK)
        *out = dist;
    return rc;
}

int ti_service_parse (const char *text, struct ti_service *out, char *why)
{
    struct ti_service service = {.kind = TI_SERVICE_ECHO, .dist = {.kind = TI_DIST_FIXED}};
    const char *rest;
    if (strcmp (text, "echo") == 0) {
        *out = service;
        return TIED_OK;
    }
    if (strncmp (text, "sleep:", 6) == 0) {
        service.kind = TI_SERVICE_SLEEP;
        rest = text + 6;
    } else if (strncmp (text, "spin:", 5) == 0) {
        service.kind = TI_SERVICE_SPIN;
        rest = text + 5;
    } else {
        return refuse (why, "a service is echo, sleep:DIST or spin:DIST, as in sleep:exp(10ms)");
    }
    int rc = ti_dist_parse (rest, &service.dist, why);
    if (rc == TIED_OK)
        *out = service;
    return rc;
}

int ti_pause_parse (const char *text, struct ti_pause *out, char *why)
{
    char gap[ARGUMENT_MAX];
    struct ti_pause pause;
    const char *comma = strchr (text, ',');
    if (!comma || (size_t)(comma - text) >= sizeof gap)
        return refuse (why, "a pause is a mean gap and a length, as in 4s,200ms");
    memcpy (gap, text, (size_t)(comma - text));
    gap[comma - text] = '\0';
    int rc = parse_duration (gap, &pause.gap_ns, why);
    if (rc == TIED_OK)
        rc = parse_duration (comma + 1, &pause.length_ns, why);
    if (rc)
        return rc;
    if (pause.gap_ns == 0 || pause.length_ns == 0)
        return refuse (why, "a pause needs a gap and a length above 0, as in 4s,200ms");
    *out = pause;
    return TIED_OK;
}
