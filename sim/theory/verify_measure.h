/* SPDX-License-Identifier: MIT */
/* What one replication of a row says: its quantities, and whether the identities hold. */
#ifndef SIM_VERIFY_MEASURE_H
#define SIM_VERIFY_MEASURE_H

#include <stdbool.h>

#include "study/run.h"
#include "theory/verify_rows.h"

/* NaN: the replication has no such figure. */
double sim_measure (const struct sim_row *row,
                    enum sim_quantity quantity,
                    const struct sim_result *result);

/* A percentile of the samples in ns, interpolated inside its bucket: the histogram itself answers
 * with the end of the bucket, which is too much by up to 1 / 1024. NaN when empty. */
double sim_measure_percentile (const struct ti_hist *hist, uint32_t ppm);

/* Do the row's identities hold? If not, one line in why, with the numbers. */
bool sim_measure_identities (const struct sim_row *row,
                             const struct sim_result *result,
                             char why[SIM_WHY_MAX]);

#endif
