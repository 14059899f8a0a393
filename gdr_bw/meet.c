// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the two ends of gdr_bw tell each other before the windows. */
#include <string.h>

#include "base/phase.h"
#include "endpoint/rail.h"
#include "gdr.h"
#include "proto/fields.h"
#include "proto/path_json.h"

#define STRIDE_MAX (UINT64_C(1) << 41)
#define AWAKE_NS   UINT64_C(50000000)

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
	ROW(direct, FIELD_ALWAYS),
	ROW(relaxed_ordering, FIELD_ALWAYS),
	ROW(reason),
	ROW(fix),
};
static const struct fields side_table = FIELDS(side_rows, NULL);

json_t *gdr_side_json(const struct gdr_side *side)
{
	json_t *to = fields_write(&side_table, side, json_object());

	json_object_set_new(to, "path", path_to_json(&side->path));
	return to;
}

/* This end, as a member of the message TO. */
static void write_end(const struct gdr *g, json_t *to)
{
	json_t *places = json_array();

	for (unsigned i = 0; i < GDR_PLACES; i++)
		json_array_append_new(places,
				      fields_write(&place_table, &g->here[i], json_object()));
	json_object_set_new(to, "places", places);
	json_object_set_new(to, "side", gdr_side_json(&g->mine));
}

static int read_end(struct gdr *g, const json_t *from)
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

/* Copy for a while, since an idle GPU slows its PCIe link down; then find its path to the NIC. */
static int find_path(struct gdr *g)
{
	const struct endpoint *ep = g->ms->ep;
	uint64_t end = clock_now_ns() + AWAKE_NS;
	struct fault unreadable = {0};
	struct path_tree *t = NULL;

	while (g->mine.gpu && clock_now_ns() < end)
		if (gpu_copy_out(ep->gpu, g->mem[GDR_SLOTS].memory.host, g->data.addr,
				 STAGED_CHUNK_BYTES, g->ms->fault))
			return -1;
	if (g->mine.gpu && path_open(&t, &unreadable) == 0)
		path_find(t, ep->rail->hca.info.place.pci, ep->gpu->info.pci, &g->mine.path);
	path_close(t);
	return fault_for_memory(&unreadable, g->ms->fault) ? -1 : 0;
}

int gdr_meet(struct gdr *g)
{
	json_t *what, *result;
	int rc;

	if (find_path(g))
		return -1;
	what = json_object();
	write_end(g, what);
	if (measure_task(g->ms, what, &result))
		return -1;
	rc = read_end(g, result);
	json_decref(result);
	return rc;
}

int gdr_task(struct measure *ms, const json_t *what, json_t *result)
{
	struct gdr *g = ms->own;

	fault_phase(ms->fault, PHASE_TASK);
	if (!g)
		return fault_raise(ms->fault, FAULT_PEER, 0,
				   "the client requested a task in a plain run");
	if (json_object_get(what, "kind"))
		return gdr_verify_task(g, what, result);
	if (read_end(g, what) || find_path(g))
		return -1;
	write_end(g, result);
	return 0;
}
