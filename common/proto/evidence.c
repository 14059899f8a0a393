// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "proto/evidence.h"

#include <math.h>

#include "proto/fields.h"

/* clang-format off */
#define SHARE(key, member) FIELD_AS(key, struct evidence, member, FIELD_IF_KNOWN, .max = 1)
#define TIME(key, member)  FIELD_AS(key, struct evidence, member, FIELD_IF_KNOWN)
/* clang-format on */

/* Of times in us, which struct evidence has in ns. */
static const struct field rows[] = {
	SHARE("full_share", full_share),
	SHARE("schedule_share", schedule_share),
	TIME("alone_us", alone_ns),
	TIME("completion_us", completion_ns),
	SHARE("receiver_busy_share", busy_share),
};
static const struct fields table = FIELDS(rows, "the peer's evidence has an invalid");

struct evidence evidence_unknown(void)
{
	return (struct evidence){NAN, NAN, NAN, NAN, NAN};
}

bool evidence_is_known(const struct evidence *e)
{
	return !isnan(e->full_share) || !isnan(e->schedule_share) || !isnan(e->alone_ns) ||
	       !isnan(e->completion_ns) || !isnan(e->busy_share);
}

/* E with its times multiplied by BY: from the nanoseconds here to the microseconds of JSON, or back. */
static struct evidence with_times_scaled(const struct evidence *e, double by)
{
	struct evidence to = *e;

	to.alone_ns *= by;
	to.completion_ns *= by;
	return to;
}

json_t *evidence_to_json(const struct evidence *e)
{
	struct evidence us = with_times_scaled(e, 1e-3);

	return fields_write(&table, &us, json_object());
}

int evidence_from_json(struct evidence *e, const json_t *from, struct fault *f)
{
	struct evidence us = evidence_unknown();

	if (fields_read(&table, &us, from, f))
		return -1;
	*e = with_times_scaled(&us, 1e3);
	return 0;
}
