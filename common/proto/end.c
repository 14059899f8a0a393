// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "proto/end.h"

#include <string.h>

#include "base/text.h"
#include "proto/fields.h"

/* clang-format off */
#define ROW(key, member, ...)   FIELD_AS(#key, struct end, member, FIELD_ALWAYS, __VA_ARGS__)
#define NEED(key, member, ...)  FIELD_AS(#key, struct end, member, FIELD_REQUIRED, __VA_ARGS__)
#define KNOWN(key, member, ...) FIELD_AS(#key, struct end, member, FIELD_OPTIONAL, __VA_ARGS__) /* 0: unknown */

#define NODE_MAX   4095
#define INLINE_MAX 65536
#define YEAR_10000 INT64_C(253402300800000000) /* in us since 1970 */
#define SOME       "?*"                        /* a text that is not empty */
#define GID_TYPE   "|RoCE v2 IPv4|RoCE v2 IPv6|RoCE v2 link-local|RoCE v1|IB|iWARP|EFA"
#define PCI        "|%%%%:%%:%%.~|%%%%%:%%:%%.~|%%%%%%:%%:%%.~|%%%%%%%:%%:%%.~|%%%%%%%%:%%:%%.~"

static const struct field rows[] = {
	NEED(host, host, .form = SOME), NEED(device, nic.name, .form = SOME), ROW(device_chosen, nic.chosen),
	NEED(port, nic.port, .min = 1, .max = UINT8_MAX),
	NEED(link_layer, nic.link_layer, .form = "Ethernet|InfiniBand|EFA"),
	NEED(transport, nic.transport, .form = "InfiniBand|RoCE|iWARP|EFA"), ROW(address, address.cm),
	ROW(rate_gbps, nic.rate_gbps), ROW(gid_index, address.gid_index, .min = -1, .max = UINT16_MAX),
	ROW(gid, address.gid), ROW(gid_type, address.gid_type, .form = GID_TYPE), ROW(gid_chosen, address.gid_chosen),
	ROW(lid, address.lid, .max = UINT16_MAX),
	ROW(pkey_index, address.pkey_index, .max = UINT16_MAX), ROW(pkey, address.pkey, .form = "|0x%%%%"),
	NEED(active_mtu_bytes, nic.active_mtu_bytes, .min = 256, .max = 4096, .power_of_two = true),
	ROW(inline_bytes, nic.inline_bytes, .max = INLINE_MAX),
	ROW(netdev, nic.netdev), ROW(pci, nic.pci, .form = PCI), ROW(pcie_link, nic.pcie_link),
	KNOWN(pcie_trained_down, nic.pcie_trained_down),
	KNOWN(pcie_read_gbps, nic.pcie_read_gbps), KNOWN(pcie_write_gbps, nic.pcie_write_gbps),
	ROW(numa_node, nic.numa_node, .min = -1, .max = NODE_MAX),
	ROW(thread_node, thread.node, .min = -1, .max = NODE_MAX), ROW(cpus, thread.cpus),
	ROW(pinned, thread.pinned), ROW(memory_pages, memory.pages, .max = INT64_MAX),
	ROW(memory_pages_on_node, memory.pages_on_node, .max = INT64_MAX),
	NEED(memory, memory.kind, .form = "host|gpu"),
	ROW(memory_made_of, memory.made_of), ROW(gpu, gpu.name), ROW(gpu_uuid, gpu.uuid, .form = "|GPU-?*|MIG-?*"),
	ROW(gpu_path, gpu.path, .form = "|dmabuf|peermem|data_direct"), ROW(gpu_chosen, gpu.chosen),
	ROW(gpu_distance, gpu.distance, .form = "|PIX|PXB|PHB|NODE|SYS|unknown"),
	NEED(clock, clock, .form = "tsc|cntvct|clock_gettime"), ROW(firmware, nic.firmware),
	NEED(version, version, .form = "#.#.#*"),
	ROW(kernel, kernel), ROW(cpu_model, cpu_model),
	FIELD_AS("rdma_core", struct end, rdma_core, .form = "#|#.#|#.#.#|#.#.#.#"), /* if it is known */
	KNOWN(utc_us, utc_us, .max = YEAR_10000),
};
/* clang-format on */

static const struct fields table = FIELDS(rows, "the peer's description of itself has an invalid");

#define MORE "..."

void end_add_argument(struct end *e, const char *text)
{
	size_t room = sizeof(e->argv.text) - e->argv.bytes, need = strlen(text) + 1;
	char *to = e->argv.text + e->argv.bytes;

	if (e->argv.full)
		return;
	e->argv.full = need + sizeof(MORE) > room;
	if (e->argv.full) {
		text = MORE;
		need = sizeof(MORE);
	}
	text_copy(to, need, text);
	e->argv.bytes += need;
}

/* Read the peer's command line, an array of texts, if there is one. Returns 0 or -1. */
static int read_argv(struct end *e, const json_t *from, struct fault *f)
{
	const json_t *argv = json_object_get(from, "argv"), *v;
	size_t i;

	if (argv && !json_is_array(argv))
		return fields_raise(&table, from, "argv", f);
	json_array_foreach (argv, i, v) {
		if (!json_is_string(v))
			return fields_raise(&table, from, "argv", f);
		end_add_argument(e, json_string_value(v));
	}
	return 0;
}

const struct fields *end_fields(void)
{
	return &table;
}

json_t *end_to_json(const struct end *e)
{
	json_t *to = fields_write(&table, e, json_object()), *argv = json_array();

	for (size_t at = 0; at < e->argv.bytes; at += strlen(e->argv.text + at) + 1)
		json_array_append_new(argv, json_text(e->argv.text + at));
	json_object_set_new(to, "argv", argv);
	return to;
}

int end_from_json(struct end *e, const json_t *from, struct fault *f)
{
	memset(e, 0, sizeof(*e));
	return fields_read(&table, e, from, f) || read_argv(e, from, f) ? -1 : 0;
}
