// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "proto/evidence.h"

#include <math.h>

#include "proto/fields.h"

#define ROW(member, ...) FIELD(struct evidence, member, FIELD_IF_KNOWN, __VA_ARGS__)

static const struct field rows[] = {
	ROW(full_share, .max = 1),
	ROW(schedule_share, .max = 1),
	ROW(alone_us),
	ROW(completion_us),
	FIELD_AS("receiver_busy_share", struct evidence, busy_share, FIELD_IF_KNOWN, .max = 1),
};
static const struct fields table = FIELDS(rows, "the peer's evidence has an invalid");

struct evidence evidence_unknown(void)
{
	return (struct evidence){NAN, NAN, NAN, NAN, NAN};
}

json_t *evidence_to_json(const struct evidence *e)
{
	return fields_write(&table, e, json_object());
}

int evidence_from_json(struct evidence *e, const json_t *from, struct fault *f)
{
	*e = evidence_unknown();
	return fields_read(&table, e, from, f);
}
