// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "proto/path_json.h"

#include <string.h>

#include "proto/fields.h"

#define GBPS_MAX    1000000
#define WIDTH_MAX   64
#define PAYLOAD_MAX 4096

/* clang-format off */
#define ROW(member, ...) FIELD(struct path, member, __VA_ARGS__)
/* All members of a link are written if its PCI address is known. */
#define LINK_ROW(key, link, member, most) \
	FIELD_AS(#member, struct path, link.member, .max = most, .group = key, \
		 FIELD_IF(struct path, link.pci))
#define LINK(key, link) \
	LINK_ROW(key, link, pci, 0), LINK_ROW(key, link, gts, GBPS_MAX), \
	LINK_ROW(key, link, width, WIDTH_MAX), LINK_ROW(key, link, max_gts, GBPS_MAX), \
	LINK_ROW(key, link, max_width, WIDTH_MAX)

static const struct field rows[] = {
	ROW(class, FIELD_ALWAYS, .words = "PIX|PXB|PHB|NODE|SYS|unknown"),
	LINK("nic_link", nic),
	LINK("gpu_link", gpu),
	LINK("trained_down", down),
	ROW(iommu),
	ROW(iommu_translates, FIELD_ALWAYS),
	ROW(virtual_machine, FIELD_ALWAYS),
	ROW(payload_bytes, FIELD_ALWAYS, .max = PAYLOAD_MAX),
	ROW(ceiling_write_gbps, .max = GBPS_MAX),
	ROW(ceiling_read_gbps, .max = GBPS_MAX),
};
/* clang-format on */

static const struct fields table = FIELDS(rows, "the peer's PCIe path has an invalid");

json_t *path_to_json(const struct path *p)
{
	return fields_write(&table, p, json_object());
}

int path_from_json(struct path *p, const json_t *from, struct fault *f)
{
	memset(p, 0, sizeof(*p));
	p->class = PATH_UNKNOWN;
	p->trained_down = json_object_get(from, "trained_down") != NULL;
	return fields_read(&table, p, from, f);
}
