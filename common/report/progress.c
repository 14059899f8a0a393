// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is told while a run goes on: intervals, and the live line on a terminal. */
#include <inttypes.h>

#include "base/units.h"
#include "report/forms.h"

/*
 * With --run_infinitely the rows are the result: one for each interval, and one for the whole at
 * the end. A latency row has more in it than is known of an interval.
 */
static bool interval_row(struct report *r, const struct report_progress *p)
{
	double s = (double)p->interval_ns / 1e9;
	struct record rec = {.message_bytes = p->message_bytes, .messages = p->messages};
	const struct report_result result = {.rows = 0};

	if (!r->about.options->experiment.run_infinitely || r->about.latency ||
	    !(r->table || r->perftest || r->only))
		return false;
	rec.messages_per_s = s > 0 ? (double)p->messages / s : 0;
	rec.bandwidth_gbps = rec.messages_per_s * (double)p->message_bytes * 8 / 1e9;
	forms_to_table(r, &result, &rec);
	r->header_done = true;
	return true;
}

/* "5.0 s: 65536 B: 92.1 Gb/s, 0.176 M messages/s", or the mean latency. Returns BUF. */
static const char *progress_text(const struct report *r, const struct report_progress *p, char *buf,
				 size_t size)
{
	double s = (double)p->interval_ns / 1e9, rate = s > 0 ? (double)p->messages / s : 0;

	if (r->about.latency)
		snprintf(buf, size,
			 "%.1f s: %" PRIu64 " B: %.2f usec on average, %" PRIu64 " messages",
			 (double)p->elapsed_ns / 1e9, p->message_bytes,
			 p->messages ? s * 1e6 / 2 / (double)p->messages : 0, p->messages);
	else
		snprintf(buf, size, "%.1f s: %" PRIu64 " B: %.3f Gb/s, %.0f messages/s",
			 (double)p->elapsed_ns / 1e9, p->message_bytes,
			 rate * (double)p->message_bytes * 8 / 1e9, rate);
	return buf;
}

void report_interval(struct report *r, const struct report_progress *p)
{
	double s = (double)p->interval_ns / 1e9, rate = s > 0 ? (double)p->messages / s : 0;
	char text[160];

	forms_wipe_live(r);
	if (interval_row(r, p))
		return;
	if (!document_to_stdout(r->about.options->output.json)) {
		fprintf(stderr, "rdmark: %s\n", progress_text(r, p, text, sizeof(text)));
		return;
	}
	printf("{\"interval\": {\"message_bytes\": %" PRIu64
	       ", \"elapsed_s\": %.6f, \"interval_s\": %.6f, "
	       "\"messages\": %" PRIu64 ", \"messages_per_s\": %.3f, ",
	       p->message_bytes, (double)p->elapsed_ns / 1e9, s, p->messages, rate);
	if (r->about.latency)
		printf("\"latency_mean_us\": %.4f}}\n",
		       p->messages ? s * 1e6 / 2 / (double)p->messages : 0);
	else
		printf("\"bandwidth_gbps\": %.6f}}\n", rate * (double)p->message_bytes * 8 / 1e9);
	fflush(stdout);
}

/* "12 s", "3 min 20 s", "2 h 5 min": two units are enough to wait by. Returns BUF. */
static const char *left_text(uint64_t left_ns, char *buf, size_t size)
{
	uint64_t s = (left_ns + UNITS_NS_PER_S / 2) / UNITS_NS_PER_S;

	if (s < 60)
		snprintf(buf, size, "%" PRIu64 " s", s);
	else if (s < 3600)
		snprintf(buf, size, "%" PRIu64 " min %" PRIu64 " s", s / 60, s % 60);
	else
		snprintf(buf, size, "%" PRIu64 " h %" PRIu64 " min", s / 3600, s % 3600 / 60);
	return buf;
}

void report_live(struct report *r, const struct report_progress *p, uint64_t left_ns)
{
	char text[160], left[48];

	if (!r->tty)
		return;
	fprintf(stderr, "\r%s", progress_text(r, p, text, sizeof(text)));
	if (left_ns)
		fprintf(stderr, ", %s left", left_text(left_ns, left, sizeof(left)));
	fprintf(stderr, "\033[K");
	r->live_shown = true;
}
