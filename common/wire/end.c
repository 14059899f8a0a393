// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "wire/end.h"

#include <stddef.h>
#include <string.h>

#include "base/text.h"
#include "wire/json_text.h"

enum field_kind {
	TEXT,
	INTEGER,
	REAL
};

/* clang-format off */
#define FIELD(kind, name) {#name, kind, offsetof(struct end, name), sizeof(((struct end *)0)->name)}

static const struct {
	const char *name;
	enum field_kind kind;
	size_t offset, size;
} fields[] = {
	FIELD(TEXT, host), FIELD(TEXT, device), FIELD(TEXT, device_chosen), FIELD(INTEGER, port),
	FIELD(TEXT, link_layer), FIELD(REAL, rate_gbps), FIELD(INTEGER, gid_index), FIELD(TEXT, gid),
	FIELD(TEXT, gid_type), FIELD(TEXT, gid_chosen), FIELD(INTEGER, lid), FIELD(INTEGER, pkey_index), FIELD(TEXT, pkey), FIELD(INTEGER, active_mtu_bytes), FIELD(INTEGER, inline_bytes),
	FIELD(TEXT, netdev), FIELD(TEXT, pci), FIELD(TEXT, pcie_link), FIELD(INTEGER, numa_node),
	FIELD(INTEGER, thread_node), FIELD(TEXT, cpus), FIELD(TEXT, pinned), FIELD(INTEGER, memory_pages),
	FIELD(INTEGER, memory_pages_on_node), FIELD(TEXT, memory), FIELD(TEXT, gpu),
	FIELD(TEXT, gpu_uuid), FIELD(TEXT, gpu_path), FIELD(TEXT, gpu_chosen), FIELD(TEXT, gpu_distance), FIELD(TEXT, clock), FIELD(TEXT, firmware),
	FIELD(TEXT, version),
};
/* clang-format on */

#define FIELDS (sizeof(fields) / sizeof(fields[0]))

json_t *end_to_json(const struct end *e)
{
	json_t *to = json_object();

	for (size_t i = 0; i < FIELDS; i++) {
		const char *at = (const char *)e + fields[i].offset;
		json_t *v;

		if (fields[i].kind == TEXT)
			v = json_text(at);
		else if (fields[i].kind == INTEGER)
			v = json_integer(*(const int64_t *)(const void *)at);
		else
			v = json_real(*(const double *)(const void *)at);
		json_object_set_new(to, fields[i].name, v);
	}
	return to;
}

int end_from_json(struct end *e, const json_t *from, struct fault *f)
{
	memset(e, 0, sizeof(*e));
	for (size_t i = 0; i < FIELDS; i++) {
		const json_t *v = json_object_get(from, fields[i].name);
		char *at = (char *)e + fields[i].offset;

		if (!v)
			continue;
		if (fields[i].kind == TEXT      ? !json_is_string(v)
		    : fields[i].kind == INTEGER ? !json_is_integer(v)
						: !json_is_number(v))
			return fault_raise(f, FAULT_PEER, 0,
					   "the peer describes itself with an impossible %s",
					   fields[i].name);
		if (fields[i].kind == TEXT)
			text_copy(at, fields[i].size, json_string_value(v));
		else if (fields[i].kind == INTEGER)
			*(int64_t *)(void *)at = json_integer_value(v);
		else
			*(double *)(void *)at = json_number_value(v);
	}
	return 0;
}
