// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "wire/record.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
#define INTEGER(field) {#field, offsetof(struct record, field), true}
#define REAL(field)    {#field, offsetof(struct record, field), false}
#define REAL_WITH(field, other) \
	{#field, offsetof(struct record, field), false, offsetof(struct record, other)}

static const struct record_field fields[] = {
	INTEGER(message_bytes), INTEGER(qps), INTEGER(messages), REAL(seconds),
	REAL(bandwidth_gbps), REAL(bandwidth_peak_gbps), REAL(messages_per_s),
	REAL(latency_min_us), REAL(latency_max_us), REAL(latency_mean_us), REAL(latency_stdev_us),
	REAL(latency_p50_us), REAL(latency_p90_us), REAL(latency_p99_us), REAL(latency_p99_9_us),
	REAL(latency_p99_99_us), REAL(rate_limit_gbps), INTEGER(late_messages), REAL(late_max_us),
	REAL(load_gbps), INTEGER(interrupted), INTEGER(lost),
	INTEGER(intervals), REAL_WITH(worst_interval_gbps, intervals), REAL(worst_interval_us),
	REAL(cpu_percent), REAL_WITH(cpu_user_s, cpu_percent), REAL_WITH(cpu_system_s, cpu_percent),
	REAL(cpu_s_per_gb), INTEGER(run),
};
/* clang-format on */

/* Beyond anything that is measured, and safe to multiply. */
#define REAL_MAX 1e15

#define FIELDS (sizeof(fields) / sizeof(fields[0]))

static uint64_t *integer_of(const struct record *r, const struct record_field *field)
{
	return (uint64_t *)((char *)(uintptr_t)r + field->offset);
}

static double *real_of(const struct record *r, const struct record_field *field)
{
	return (double *)((char *)(uintptr_t)r + field->offset);
}

/* A zero of either type is all zero bits. */
static bool was_measured(const struct record *r, const struct record_field *field)
{
	uint64_t bits;

	memcpy(&bits, (const char *)r + (field->with ? field->with : field->offset), sizeof(bits));
	return bits != 0;
}

const struct record_field *record_fields(size_t *count)
{
	*count = FIELDS;
	return fields;
}

const struct record_field *record_find(const char *name)
{
	for (size_t i = 0; i < FIELDS; i++)
		if (strcmp(fields[i].name, name) == 0)
			return &fields[i];
	return NULL;
}

double record_value(const struct record *r, const struct record_field *field)
{
	return field->is_integer ? (double)*integer_of(r, field) : *real_of(r, field);
}

json_t *record_to_json(const struct record *r)
{
	json_t *to = json_object();

	for (size_t i = 0; i < FIELDS; i++) {
		if (i && !was_measured(r, &fields[i]))
			continue;
		if (fields[i].is_integer)
			json_object_set_new(to, fields[i].name,
					    json_integer((json_int_t)*integer_of(r, &fields[i])));
		else
			json_object_set_new(to, fields[i].name, json_real(*real_of(r, &fields[i])));
	}
	return to;
}

int record_from_json(struct record *r, const json_t *from, struct fault *f)
{
	memset(r, 0, sizeof(*r));
	for (size_t i = 0; i < FIELDS; i++) {
		const json_t *v = json_object_get(from, fields[i].name);

		if (!v)
			continue;
		if (fields[i].is_integer ? !json_is_integer(v) || json_integer_value(v) < 0
					 : !json_is_number(v) || !(json_number_value(v) >= 0) ||
						   json_number_value(v) > REAL_MAX)
			return fault_raise(f, FAULT_PEER, 0,
					   "the peer's result has an impossible %s",
					   fields[i].name);
		if (fields[i].is_integer)
			*integer_of(r, &fields[i]) = (uint64_t)json_integer_value(v);
		else
			*real_of(r, &fields[i]) = json_number_value(v);
	}
	return 0;
}

const char *record_format(const struct record *r, const struct record_field *field, char *buf,
			  size_t size)
{
	buf[0] = '\0';
	if (field->is_integer)
		snprintf(buf, size, "%" PRIu64, *integer_of(r, field));
	else if (was_measured(r, field))
		snprintf(buf, size, "%.9g", *real_of(r, field));
	return buf;
}
