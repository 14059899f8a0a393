// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "measure/result.h"

#include "base/text.h"
#include "cli/sweep.h"
#include "explain/during.h"
#include "explain/limit.h"
#include "finding/finding.h"
#include "proto/record.h"

void worst_note(struct worst *w, uint64_t interval_ns, uint64_t messages, double sum_us)
{
	double rate = (double)messages * 1e9 / (double)interval_ns;
	double us = sum_us / (double)(messages ? messages : 1);

	if (!w->intervals || rate < w->messages_per_s)
		w->messages_per_s = rate;
	if (us > w->latency_us)
		w->latency_us = us;
	w->intervals++;
}

void worst_to_record(const struct worst *w, bool latency, struct record *rec)
{
	if (latency) {
		rec->worst_interval_us = w->latency_us;
		return;
	}
	rec->interval_count = w->intervals;
	rec->worst_interval_gbps = w->messages_per_s * (double)rec->message_bytes * 8 / 1e9;
}

const char *result_end_name(enum result_end end)
{
	static const char *const name[] = {"client", "server", "both"};

	return name[end];
}

const char *result_direction_name(enum result_direction direction)
{
	static const char *const name[] = {"client_to_server", "server_to_client", "both",
					   "ping_pong", "none"};

	return name[direction];
}

const char *result_direction_words(enum result_direction direction)
{
	static const char *const words[] = {"client to server", "server to client", "both ways",
					    "ping-pong", "none"};

	return words[direction];
}

bool result_may_be_disturbed(const struct result_row *row)
{
	const struct disturbed *d = &row->disturbed;
	const struct findings *found = row->explained ? &row->explained->findings : NULL;

	for (size_t i = 0; found && i < found->count; i++)
		if (found->list[i].is.strength == FINDING_IS &&
		    limit_of_finding(found->list[i].is.code) != LIMIT_UNKNOWN)
			return false;
	return !((d->reasons[0] | d->reasons[1]) & ~QUALITY_OF_PORTS);
}

const char *result_disturbance(const struct result_row *row, char *buf, size_t size)
{
	const struct disturbed *d = &row->disturbed;
	unsigned both = d->same_ports ? d->reasons[0] & d->reasons[1] & QUALITY_OF_PORTS : 0;
	const unsigned reasons[] = {both, d->reasons[0] & ~both, d->reasons[1] & ~both};
	static const char *const whose[] = {"this host", "client", "server"};
	char text[512];

	buf[0] = '\0';
	for (int i = 0; i < 3; i++)
		if (reasons[i])
			text_add(buf, size, "%s%s: %s", buf[0] ? "; " : "", whose[i],
				 quality_text(&d->quality[i == 2], reasons[i], text, sizeof(text)));
	return buf;
}

const char *result_point(const struct options *o, char *buf, size_t size)
{
	const struct sweep *s = &o->sweep;
	bool only_size = s->axes == 1 &&
			 s->axis[0].row->field == offsetof(struct options, experiment.size_bytes);

	buf[0] = '\0';
	if (s->axes && !only_size) {
		sweep_point(o, buf, size);
		text_add(buf, size, ": ");
	}
	return buf;
}
