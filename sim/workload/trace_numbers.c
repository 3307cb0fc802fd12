/* SPDX-License-Identifier: MIT */
/* Columns of files as they stand, and as slowdowns. */
#include <stdlib.h>
#include <string.h>

#include <tied/error.h>

#include "workload/trace.h"
#include "workload/trace_column.h"

int sim_trace_column (const char *path,
                      const char *column,
                      struct sim_numbers *out,
                      char why[SIM_WHY_MAX])
{
    struct sim_trace_file file;
    struct sim_grow values = {0};
    double value;
    int rc = sim_trace_open (&file, path, column, NULL, why);

    if (rc != 0)
        return rc;
    while ((rc = sim_trace_next (&file, &value, why)) == 1) {
        if (!sim_grow (&values)) {
            rc = sim_trace_no_memory (path, why);
            break;
        }
        ((double *)values.values)[values.count - 1] = value;
    }
    if (rc == 0 && values.count == 0)
        rc = sim_csv_refuse (&file.csv, why, "holds no records");
    sim_trace_close (&file);
    if (rc != 0) {
        free (values.values);
        return rc;
    }
    *out = (struct sim_numbers){values.values, values.count};
    return TIED_OK;
}

static int compare (const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

int sim_trace_slowdown (const char *path,
                        const char *column,
                        struct sim_numbers *out,
                        char why[SIM_WHY_MAX])
{
    const bool is_rate = strstr (column, "per") != NULL;
    struct sim_numbers numbers;
    double *sorted;
    double median;
    int rc = sim_trace_column (path, column, &numbers, why);

    if (rc != 0)
        return rc;
    sorted = malloc (numbers.count * sizeof *sorted);
    if (!sorted) {
        sim_numbers_deinit (&numbers);
        return sim_trace_no_memory (path, why);
    }
    memcpy (sorted, numbers.values, numbers.count * sizeof *sorted);
    qsort (sorted, numbers.count, sizeof *sorted, compare);
    median = sorted[(numbers.count - 1) / 2];
    if (sorted[0] <= 0) {
        (void)snprintf (why, SIM_WHY_MAX,
                        "%.120s: column %.32s: %g is not above 0: no slowdown can be made of it",
                        path, column, sorted[0]);
        free (sorted);
        sim_numbers_deinit (&numbers);
        return TIED_ERR_INVAL;
    }
    free (sorted);
    for (uint64_t i = 0; i < numbers.count; i++)
        numbers.values[i] = is_rate ? median / numbers.values[i] : numbers.values[i] / median;
    *out = numbers;
    return TIED_OK;
}

void sim_numbers_deinit (struct sim_numbers *numbers)
{
    free (numbers->values);
    *numbers = (struct sim_numbers){0};
}
