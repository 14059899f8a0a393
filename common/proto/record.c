// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "proto/record.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "proto/fields.h"
#include "stat/interval.h"
#include "stat/slices.h"

#define SAME_RATE   1e-6
#define TRAFFIC_MAX (INT64_MAX / 4) /* bytes of an end; the sum of both cannot overflow */

/* clang-format off */
#define COUNT        .max = RECORD_COUNT_MAX
#define COLUMN       .column = true
#define WITH(member) FIELD_IF(struct record, member)

#define ROW(type, member, ...) FIELD(struct record, member, __VA_ARGS__),
#define PART(type, key, member, ...) FIELD_AS(#key, struct record, member, __VA_ARGS__),
#define PERCENTILE(symbol, name, percent, ...) \
	FIELD_AS("latency_" #name "_us", struct record, percentile.us[PERCENTILE_##symbol], __VA_ARGS__),
#define LIMIT(symbol, name, end) \
	FIELD_AS("latency_" #name "_" #end "_us", struct record, percentile.end##_us[PERCENTILE_##symbol], \
		 .may_be_unknown = true),
/* They are written if anything was observed; an unknown one is null. */
#define QUALITY(type, member, ...) \
	FIELD_AS(#member, struct record, quality.member, FIELD_IF(struct record, quality.observed_s), \
		 .group = "quality", .may_be_unknown = true, __VA_ARGS__),
static const struct field rows[] = {
#include "proto/record.def"
#include "finding/quality.def"
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

enum percentile record_percentile(const struct field *field)
{
	const size_t first = offsetof(struct record, percentile);

	if (field->offset - first >= sizeof(((struct record *)0)->percentile))
		return PERCENTILES;
	return (field->offset - first) / sizeof(double) % PERCENTILES;
}

double percentile_percent(enum percentile p)
{
#define PERCENTILE(symbol, name, percent, ...) percent,
	static const double percents[] = {
#include "proto/record.def"
	};

	return percents[p];
}

const char *percentile_name(enum percentile p, char buf[PERCENTILE_NAME])
{
	snprintf(buf, PERCENTILE_NAME, "p%.10g", percentile_percent(p));
	return buf;
}

uint64_t percentile_needs(enum percentile p)
{
	return PERCENTILE_BEYOND * (uint64_t)llround(100 / (100 - percentile_percent(p)));
}

uint64_t percentile_samples(const struct record *rec)
{
	return rec->messages > rec->lost ? rec->messages - rec->lost : 0;
}

bool percentile_known(const struct record *rec, const struct field *field)
{
	enum percentile p = record_percentile(field);

	return p == PERCENTILES || percentile_samples(rec) >= percentile_needs(p);
}

struct record record_known(const struct record *r)
{
	struct record known = *r;

	for (enum percentile p = 0; p < PERCENTILES; p++) {
		if (percentile_samples(r) >= percentile_needs(p))
			continue;
		known.percentile.us[p] = r->percentile.us[p] > 0 ? NAN : 0;
		known.percentile.low_us[p] = known.percentile.high_us[p] = 0;
	}
	return known;
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
	if (field->words)
		field_word(field, (unsigned)integer_of(r, field), buf, size);
	else if (field->kind == FIELD_UNSIGNED)
		snprintf(buf, size, "%" PRIu64, integer_of(r, field));
	else if (!field_is_omitted(field, r) && !isnan(record_value(r, field)))
		snprintf(buf, size, "%.9g", record_value(r, field));
	return buf;
}
