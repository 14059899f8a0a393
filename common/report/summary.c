// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is said of a size beside its rows: what its runs come to, and its worst interval. */
#include <inttypes.h>

#include "report/forms.h"

void report_summary(struct report *r, json_t *summary, const char *text)
{
	json_array_append_new(r->summaries, summary);
	report_note(r, "%s", text);
}

void summary_worst(const struct report *r, const struct report_row *row)
{
	const struct record *rec = row->record;

	if (document_to_stdout(r->about.options->output.json) || row->thread >= 0 || row->device ||
	    row->by != (r->about.server ? REPORT_SERVER : REPORT_CLIENT))
		return;
	if (rec->intervals)
		fprintf(stderr,
			"rdmark: %" PRIu64 " B: worst of %" PRIu64 " intervals: %.3f Gb/s\n",
			rec->message_bytes, rec->intervals, rec->worst_interval_gbps);
	else if (rec->worst_interval_us > 0)
		fprintf(stderr, "rdmark: %" PRIu64 " B: worst interval: %.2f usec on average\n",
			rec->message_bytes, rec->worst_interval_us);
}
