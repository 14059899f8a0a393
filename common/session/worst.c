// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "session/worst.h"

void worst_note(struct worst *w, uint64_t interval_ns, uint64_t messages)
{
	double rate = (double)messages * 1e9 / (double)interval_ns;
	double us = (double)interval_ns / 1e3 / 2 / (double)(messages ? messages : 1);

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
	rec->intervals = w->intervals;
	rec->worst_interval_gbps = w->messages_per_s * (double)rec->message_bytes * 8 / 1e9;
}
