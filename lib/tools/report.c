/* SPDX-License-Identifier: MIT */
/* The report as a value: policies, their distributions, and saving what a writer writes. */
#include "report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "dist.h"

#include <tied/error.h>

/* Points for each factor of ten of 1 / (1 - share), and how far the grid goes. */
#define POINTS_PER_DECADE 24
#define DECADES_MAX       10
_Static_assert(POINTS_PER_DECADE *DECADES_MAX + 1 <= TI_REPORT_POINTS_MAX, "grid fits");

void ti_report_init (struct ti_report *self)
{
    memset (self, 0, sizeof *self);
}

void ti_report_deinit (struct ti_report *self)
{
    for (uint32_t i = 0; i < self->policies_count; i++)
        free (self->policies[i].latency);
    ti_report_init (self);
}

struct ti_hist *ti_report_hist_new (void)
{
    const struct ti_hist_options options = {
        .lowest = 0, .highest = TI_DIST_MAX_NS, .unit = 1, .half_bits = 7};
    size_t size = ti_hist_size (&options);
    void *memory = malloc (size);
    return memory ? ti_hist_init (memory, size, &options) : NULL;
}

struct ti_report_policy *ti_report_add (struct ti_report *self, const char *policy)
{
    if (self->policies_count == TI_REPORT_POLICIES_MAX)
        return NULL;
    struct ti_hist *latency = ti_report_hist_new ();
    if (!latency)
        return NULL;
    struct ti_report_policy *added = &self->policies[self->policies_count++];
    memset (added, 0, sizeof *added);
    added->policy = policy;
    added->latency = latency;
    added->load = -1;
    return added;
}

double ti_report_per_call (const struct ti_report_policy *policy, uint64_t x)
{
    return policy->calls ? (double)x / (double)policy->calls : 0;
}

uint32_t ti_report_distribution (const struct ti_hist *latency,
                                 struct ti_report_point points[TI_REPORT_POINTS_MAX])
{
    uint32_t count = 0;
    uint64_t total = latency->total;
    if (total == 0)
        return 0;
    for (uint32_t i = 0; i < POINTS_PER_DECADE * DECADES_MAX; i++) {
        /* The share above the point; less than one sample has nothing to show. */
        double above = pow (10, -(double)i / POINTS_PER_DECADE);
        if (above * (double)total < 1)
            break;
        double rank = ceil ((1 - above) * (double)total);
        points[count].share = 1 - above;
        points[count++].ns = ti_hist_at_rank (latency, (uint64_t)rank);
    }
    points[count].share = 1;
    points[count++].ns = latency->max;
    return count;
}

/* Devices and pipes are written in place: a new file must not take the place of /dev/stdout. */
static bool is_special (const char *path)
{
    struct stat status;
    return stat (path, &status) == 0 && !S_ISREG (status.st_mode);
}

static int close_written (FILE *file, int rc)
{
    int saved = errno;
    if (fclose (file) != 0) {
        if (rc == TIED_OK)
            return TIED_ERR_SYSTEM;
    }
    if (rc)
        errno = saved;
    return rc;
}

int ti_report_save (const struct ti_report *self,
                    int (*writer) (const struct ti_report *self, FILE *file),
                    const char *path)
{
    char temporary[4096];
    if (is_special (path)) {
        FILE *file = fopen (path, "we");
        return file ? close_written (file, writer (self, file)) : TIED_ERR_SYSTEM;
    }
    int length = snprintf (temporary, sizeof temporary, "%s.XXXXXX", path);
    if (length < 0 || (size_t)length >= sizeof temporary) {
        errno = ENAMETOOLONG;
        return TIED_ERR_SYSTEM;
    }
    int fd = mkstemp (temporary);
    if (fd < 0)
        return TIED_ERR_SYSTEM;
    /* mkstemp gives 0600; a report is an ordinary file. */
    mode_t mask = umask (0);
    umask (mask);
    FILE *file = fchmod (fd, 0666 & ~mask) == 0 ? fdopen (fd, "w") : NULL;
    int rc = TIED_ERR_SYSTEM;
    if (file)
        rc = close_written (file, writer (self, file));
    else
        close (fd);
    if (rc == TIED_OK && rename (temporary, path) != 0)
        rc = TIED_ERR_SYSTEM;
    if (rc) {
        int saved = errno;
        unlink (temporary);
        errno = saved;
    }
    return rc;
}
