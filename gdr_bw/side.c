// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the ends of gdr_bw tell each other, as JSON. */
#include <string.h>

#include "base/text.h"
#include "gdr.h"
#include "wire/json_text.h"
#include "wire/message.h"
#include "wire/path_json.h"

#define RATE_MAX   1e6
#define STRIDE_MAX (UINT64_C(1) << 41)

static json_t *place_json(const struct gdr_place *p)
{
	return json_pack("{s:I, s:I, s:I}", "addr", (json_int_t)p->addr, "stride",
			 (json_int_t)p->stride, "rkey", (json_int_t)p->rkey);
}

/* Device addresses use all 64 bits, JSON's integers 63: the sign carries the last one. */
static int read_place(struct gdr_place *p, const json_t *from, struct fault *f)
{
	const json_t *addr = json_object_get(from, "addr");
	uint64_t key;

	if (message_has(from, "addr", json_is_integer(addr), f) ||
	    message_u64(from, "stride", STRIDE_MAX, &p->stride, f) ||
	    message_u64(from, "rkey", UINT32_MAX, &key, f))
		return -1;
	p->addr = (uint64_t)json_integer_value(addr);
	p->rkey = (uint32_t)key;
	return 0;
}

json_t *gdr_places_json(const struct gdr *g)
{
	json_t *memory = json_array();

	for (unsigned i = 0; i < GDR_MEMORIES; i++)
		json_array_append_new(memory, place_json(&g->here.memory[i]));
	return json_pack("{s:o, s:o, s:o}", "memory", memory, "target", place_json(&g->here.target),
			 "credit", place_json(&g->here.credit));
}

int gdr_read_places(struct gdr *g, const json_t *from)
{
	const json_t *memory = json_object_get(from, "memory");
	struct fault *f = g->parts.fault;

	if (message_has(from, "memory",
			json_is_array(memory) && json_array_size(memory) == GDR_MEMORIES, f))
		return -1;
	for (unsigned i = 0; i < GDR_MEMORIES; i++)
		if (read_place(&g->there.memory[i], json_array_get(memory, i), f))
			return -1;
	if (read_place(&g->there.target, json_object_get(from, "target"), f) ||
	    read_place(&g->there.credit, json_object_get(from, "credit"), f))
		return -1;
	return 0;
}

/* clang-format off */
#define TEXT(name) {#name, offsetof(struct gdr_side, name), sizeof(((struct gdr_side *)0)->name)}
#define REAL(name) {#name, offsetof(struct gdr_side, name), 0}
static const struct {
	const char *name;
	size_t offset, size; /* size 0: a double */
} fields[] = {
	TEXT(absent), TEXT(route), TEXT(fix), TEXT(better_gpu), TEXT(ranking),
	REAL(copy_out_gbps), REAL(copy_in_gbps), REAL(flush_us),
};
/* clang-format on */
#define FIELDS (sizeof(fields) / sizeof(fields[0]))

json_t *gdr_side_json(const struct gdr_side *side)
{
	json_t *to = json_object();

	json_object_set_new(to, "gpu", json_boolean(side->gpu));
	json_object_set_new(to, "gpudirect", json_boolean(side->gpudirect));
	json_object_set_new(to, "direct", json_boolean(side->direct));
	json_object_set_new(to, "relaxed_ordering", json_boolean(side->relaxed));
	json_object_set_new(to, "ordering", json_integer(side->ordering));
	json_object_set_new(to, "path", path_to_json(&side->path));
	for (size_t i = 0; i < FIELDS; i++) {
		const char *at = (const char *)side + fields[i].offset;

		if (!fields[i].size)
			json_object_set_new(to, fields[i].name,
					    json_real(*(const double *)(const void *)at));
		else if (*at)
			json_object_set_new(to, fields[i].name, json_text(at));
	}
	return to;
}

static int read_field(struct gdr_side *side, size_t i, const json_t *v, struct fault *f)
{
	char *at = (char *)side + fields[i].offset;
	double real = json_number_value(v);

	if (message_has(v, fields[i].name,
			fields[i].size ? json_is_string(v)
				       : json_is_number(v) && real >= 0 && real <= RATE_MAX,
			f))
		return -1;
	if (!fields[i].size) {
		*(double *)(void *)at = real;
		return 0;
	}
	text_copy(at, fields[i].size, json_string_value(v));
	return 0;
}

int gdr_read_side(struct gdr_side *side, const json_t *from, struct fault *f)
{
	const json_t *ordering = json_object_get(from, "ordering");

	memset(side, 0, sizeof(*side));
	if (message_has(from, "ordering", json_is_integer(ordering), f) ||
	    message_flag(from, "gpu", &side->gpu, f) ||
	    message_flag(from, "gpudirect", &side->gpudirect, f) ||
	    message_flag(from, "direct", &side->direct, f) ||
	    message_flag(from, "relaxed_ordering", &side->relaxed, f))
		return -1;
	side->ordering = (int)json_integer_value(ordering);
	for (size_t i = 0; i < FIELDS; i++) {
		const json_t *v = json_object_get(from, fields[i].name);

		if (v && read_field(side, i, v, f))
			return -1;
	}
	return path_from_json(&side->path, json_object_get(from, "path"), f);
}
