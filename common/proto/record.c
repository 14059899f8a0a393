// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "proto/record.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "finding/finding.h"
#include "proto/fields.h"
#include "stat/interval.h"
#include "stat/slices.h"

#define BYTES_MAX   (INT64_C(1) << 40) /* of a message */
#define QPS_MAX     65536
#define RUNS_MAX    10000
#define COPIES_MAX  1024
#define SAME_RATE   1e-6
#define TRAFFIC_MAX (INT64_MAX / 4) /* bytes of an end; the sum of both cannot overflow */

static const char *unknown_word(unsigned value)
{
	return finding_name(UNSURE_KNOWN + value);
}

/* clang-format off */
#define ROW(member, ...) FIELD(struct record, member, __VA_ARGS__)
/* A member of a struct within the record. */
#define IN(key, member, ...) FIELD_AS(#key, struct record, member, __VA_ARGS__)
#define IN_OR_NULL(key, member) IN(key, member, .may_be_unknown = true)
#define IN_WITH(key, member, other, ...) \
	IN(key, member, FIELD_IF(struct record, other), __VA_ARGS__)

/* Members of `quality` are written if anything was observed; an unknown one is null. */
#define QUALITY(member, ...) \
	FIELD_AS(#member, struct record, quality.member, \
		 FIELD_IF(struct record, quality.observed_s), .group = "quality", \
		 .may_be_unknown = true, __VA_ARGS__)
#define COUNT   .max = RECORD_COUNT_MAX
#define PERCENT .max = 100

static const struct field rows[] = {
	ROW(message_bytes, FIELD_ALWAYS, .max = BYTES_MAX), ROW(qps, .max = QPS_MAX), ROW(messages, COUNT),
	ROW(seconds), ROW(timed_messages, COUNT),
	ROW(bandwidth_gbps), ROW(bandwidth_peak_gbps), ROW(messages_per_s),
	IN(latency_min_us, latency.min_us), IN(latency_max_us, latency.max_us),
	IN(latency_mean_us, latency.mean_us), IN(latency_stdev_us, latency.stdev_us),
	IN(latency_p50_us, latency.p50_us), IN(latency_p90_us, latency.p90_us),
	IN(latency_p99_us, latency.p99_us), IN(latency_p99_9_us, latency.p99_9_us),
	IN(latency_p99_99_us, latency.p99_99_us),
	IN_OR_NULL(latency_p50_low_us, latency.low.p50_us),
	IN_OR_NULL(latency_p50_high_us, latency.high.p50_us),
	IN_OR_NULL(latency_p99_low_us, latency.low.p99_us),
	IN_OR_NULL(latency_p99_high_us, latency.high.p99_us),
	ROW(stalls, COUNT), ROW(stall_percent, PERCENT),
	IN(rate_limit_gbps, pace.limit_gbps), IN(late_messages, pace.late_messages, COUNT),
	IN(late_max_us, pace.late_max_us),
	ROW(interrupted, .max = 1), ROW(lost, COUNT), ROW(copies, .max = COPIES_MAX), ROW(resent, COUNT), ROW(sent_gbps),
	IN(interval_count, intervals.count, COUNT),
	IN_WITH(worst_interval_gbps, intervals.worst_gbps, intervals.count),
	IN(worst_interval_us, intervals.worst_us),
	IN(cpu_percent, cpu.percent), IN_WITH(cpu_user_s, cpu.user_s, cpu.percent),
	IN_WITH(cpu_system_s, cpu.system_s, cpu.percent), IN(cpu_s_per_gb, cpu.s_per_gb),
	ROW(run, .max = RUNS_MAX), IN(slices, plus_minus.slices, .max = SLICES_MAX),
	IN_WITH(plus_minus_percent, plus_minus.percent, plus_minus.slices, .may_be_unknown = true),
	IN(plus_minus_unknown, plus_minus.unknown, .max = INTERVAL_PHASES, .word = unknown_word),
	QUALITY(observed_s), QUALITY(on_cpu_percent, PERCENT), QUALITY(preempted), QUALITY(minor_faults),
	QUALITY(major_faults), QUALITY(steal_percent, PERCENT), QUALITY(stopped), QUALITY(stopped_s),
	QUALITY(retransmissions), QUALITY(retransmitted_percent),
	QUALITY(ack_timeouts), QUALITY(ack_timeout_percent),
	QUALITY(receiver_not_ready), QUALITY(receiver_not_ready_percent),
	QUALITY(losses), QUALITY(lost_percent), QUALITY(out_of_order), QUALITY(overlap_percent, PERCENT),
};
/* clang-format on */

static const struct fields table = FIELDS(rows, "the peer's result has an invalid");

const struct fields *record_fields(void)
{
	return &table;
}

const struct field *record_find(const char *key)
{
	for (size_t i = 0; i < table.count; i++)
		if (!rows[i].group && strcmp(rows[i].key, key) == 0)
			return &rows[i];
	return NULL;
}

/* The value of an integer member, which are all uint64_t. */
static uint64_t integer_of(const struct record *r, const struct field *field)
{
	uint64_t v;

	memcpy(&v, (const char *)r + field->offset, sizeof(v));
	return v;
}

double record_value(const struct record *r, const struct field *field)
{
	double v;

	memcpy(&v, (const char *)r + field->offset, sizeof(v));
	return field->kind == FIELD_UNSIGNED ? (double)integer_of(r, field) : v;
}

void record_set(struct record *r, const struct field *field, double value)
{
	memcpy((char *)r + field->offset, &value, sizeof(value));
}

void record_set_rates(struct record *r, double seconds)
{
	r->seconds = seconds;
	r->messages_per_s = (double)r->timed_messages / record_copies(r) / seconds;
	r->bandwidth_gbps = r->messages_per_s * (double)r->message_bytes * 8 / 1e9;
}

bool record_has_rate(const struct record *r)
{
	return !r->messages || r->seconds > 0 || r->messages_per_s > 0;
}

struct plus_minus plus_minus_of(const struct interval *in)
{
	bool known = in->state == INTERVAL_KNOWN && in->mean > 0;

	return (struct plus_minus){in->count, known ? in->half / in->mean * 100 : NAN, in->state};
}

json_t *record_to_json(const struct record *r)
{
	return fields_write(&table, r, json_object());
}

/* The key of R that contradicts the others, though its own value is allowed; NULL: none. */
static const char *contradiction(const struct record *r)
{
	uint64_t most = TRAFFIC_MAX / (r->message_bytes ? r->message_bytes : 1);
	double gbps = (double)r->timed_messages * (double)r->message_bytes * 8 / 1e9 / r->seconds /
		      record_copies(r);

	if (r->messages > most)
		return "messages";
	if (r->timed_messages > most)
		return "timed_messages";
	if (r->timed_messages && r->bandwidth_gbps > 0 &&
	    !(fabs(gbps / r->bandwidth_gbps - 1) < SAME_RATE))
		return "bandwidth_gbps";
	return NULL;
}

int record_from_json(struct record *r, const json_t *from, struct fault *f)
{
	const char *wrong;

	memset(r, 0, sizeof(*r));
	if (fields_read(&table, r, from, f))
		return -1;
	wrong = contradiction(r);
	return wrong ? fields_raise(&table, from, wrong, f) : 0;
}

const char *record_format(const struct record *r, const struct field *field, char *buf, size_t size)
{
	buf[0] = '\0';
	if (field->word && integer_of(r, field))
		snprintf(buf, size, "%s", field->word((unsigned)integer_of(r, field)));
	else if (field->kind == FIELD_UNSIGNED && !field->word)
		snprintf(buf, size, "%" PRIu64, integer_of(r, field));
	else if (!field_is_omitted(field, r) && !isnan(record_value(r, field)))
		snprintf(buf, size, "%.9g", record_value(r, field));
	return buf;
}
