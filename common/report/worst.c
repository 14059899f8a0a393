// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/worst.h"

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
		rec->intervals.worst_us = w->latency_us;
		return;
	}
	rec->intervals.count = w->intervals;
	rec->intervals.worst_gbps = w->messages_per_s * (double)rec->message_bytes * 8 / 1e9;
}
