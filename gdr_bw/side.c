// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes and reads, as JSON, what the two ends of gdr_bw send each other. */
#include <string.h>

#include "gdr.h"
#include "proto/fields.h"
#include "proto/path_json.h"

#define RATE_MAX   1000000
#define STRIDE_MAX (UINT64_C(1) << 41)

/* GPU addresses use all 64 bits, but JSON integers are signed: the same bits are sent as signed. */
static const struct field place_rows[] = {
	FIELD_OF(FIELD_SIGNED, "addr", struct gdr_place, addr, FIELD_REQUIRED),
	FIELD(struct gdr_place, stride, FIELD_REQUIRED, .max = STRIDE_MAX),
	FIELD(struct gdr_place, rkey, FIELD_REQUIRED),
};
static const struct fields place_table = FIELDS(place_rows, NULL);

#define ROW(member, ...) FIELD(struct gdr_side, member, __VA_ARGS__)

static const struct field side_rows[] = {
	ROW(gpu, FIELD_ALWAYS),
	ROW(integrated),
	ROW(gpudirect, FIELD_ALWAYS),
	ROW(direct, FIELD_ALWAYS),
	ROW(relaxed_ordering, FIELD_ALWAYS),
	ROW(ordering, FIELD_REQUIRED, .min = -1, .max = 200),
	ROW(absent),
	ROW(route),
	ROW(fix),
	ROW(better_gpu),
	ROW(ranking),
	ROW(copy_out_gbps, FIELD_ALWAYS, .max = RATE_MAX),
	ROW(copy_in_gbps, FIELD_ALWAYS, .max = RATE_MAX),
	ROW(flush_us, FIELD_ALWAYS, .max = RATE_MAX),
};
static const struct fields side_table = FIELDS(side_rows, NULL);

json_t *gdr_side_json(const struct gdr_side *side)
{
	json_t *to = fields_write(&side_table, side, json_object());

	json_object_set_new(to, "path", path_to_json(&side->path));
	return to;
}

json_t *gdr_end_json(const struct gdr *g)
{
	json_t *places = json_array();

	for (unsigned i = 0; i < GDR_PLACES; i++)
		json_array_append_new(places,
				      fields_write(&place_table, &g->here[i], json_object()));
	return json_pack("{s:o, s:o}", "places", places, "side", gdr_side_json(&g->mine));
}

int gdr_read_end(struct gdr *g, const json_t *from)
{
	const json_t *places = json_object_get(from, "places");
	const json_t *side = json_object_get(from, "side");
	struct fault *f = g->ms->fault;

	for (unsigned i = 0; i < GDR_PLACES; i++)
		if (fields_read(&place_table, &g->there[i], json_array_get(places, i), f))
			return -1;
	memset(&g->theirs, 0, sizeof(g->theirs));
	if (fields_read(&side_table, &g->theirs, side, f))
		return -1;
	return path_from_json(&g->theirs.path, json_object_get(side, "path"), f);
}
