/* SPDX-License-Identifier: MIT */
/* The report in words and cells, shared by the text table and the HTML page. */
#ifndef TI_REPORT_TEXT_H
#define TI_REPORT_TEXT_H

#include "report.h"
#include "table.h"

/* One row for each policy. */
void ti_report_fill_table (const struct ti_report *self, struct ti_table *table);

#define TI_REPORT_LINE_MAX 512
/* "sleep:exp(10ms), 3 replicas x 2 workers, ..."; @return buffer */
const char *ti_report_settings (const struct ti_report *self, char buffer[TI_REPORT_LINE_MAX]);

/* "3 deadline, 92 unimplemented": what became of the calls that were not answered. @return buffer
 */
const char *ti_report_not_answered (const uint64_t outcomes[TIED_OUTCOME_COUNT],
                                    char buffer[TI_REPORT_LINE_MAX]);

/*
 * Remarks on how far the figures carry, one at a time: *cursor starts at 0.
 * @return false when there are no more
 */
bool ti_report_next_note (const struct ti_report *self,
                          uint32_t *cursor,
                          char buffer[TI_REPORT_LINE_MAX]);

#endif
