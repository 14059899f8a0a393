// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "wire/path_json.h"

#include <string.h>

#include "base/text.h"

#define REAL_MAX    1e6
#define WIDTH_MAX   64
#define PAYLOAD_MAX 4096

static json_t *link_to_json(const struct path_link *l)
{
	if (!l->pci[0])
		return NULL;
	return json_pack("{s:s, s:f, s:i, s:f, s:i}", "pci", l->pci, "gts", l->gts, "width",
			 (int)l->width, "max_gts", l->max_gts, "max_width", (int)l->max_width);
}

static void set(json_t *to, const char *key, json_t *value)
{
	if (value)
		json_object_set_new(to, key, value);
}

static json_t *rate(double gbps)
{
	return gbps > 0 ? json_real(gbps) : NULL;
}

json_t *path_to_json(const struct path *p)
{
	json_t *to = json_object();

	set(to, "class", json_string(path_class_name(p->class)));
	set(to, "nic_link", link_to_json(&p->nic));
	set(to, "gpu_link", link_to_json(&p->gpu));
	set(to, "trained_down", p->trained_down ? link_to_json(&p->down) : NULL);
	set(to, "iommu", p->iommu[0] ? json_string(p->iommu) : NULL);
	set(to, "iommu_translates", json_boolean(p->iommu_translates));
	set(to, "virtual_machine", json_boolean(p->virtual_machine));
	set(to, "payload_bytes", json_integer(p->payload_bytes));
	set(to, "ceiling_write_gbps", rate(p->ceiling_write_gbps));
	set(to, "ceiling_read_gbps", rate(p->ceiling_read_gbps));
	return to;
}

static int wrong(const char *key, struct fault *f)
{
	return fault_raise(f, FAULT_PEER, 0, "the peer's PCIe path has an impossible %s", key);
}

static int read_real(const json_t *from, const char *key, double *value, struct fault *f)
{
	const json_t *v = json_object_get(from, key);

	*value = json_number_value(v);
	if (v && (!json_is_number(v) || !(*value >= 0 && *value <= REAL_MAX)))
		return wrong(key, f);
	return 0;
}

static int read_count(const json_t *from, const char *key, unsigned max, unsigned *value,
		      struct fault *f)
{
	const json_t *v = json_object_get(from, key);

	if (v && (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) > max))
		return wrong(key, f);
	*value = (unsigned)json_integer_value(v);
	return 0;
}

static int read_text(const json_t *from, const char *key, char *to, size_t size, struct fault *f)
{
	const json_t *v = json_object_get(from, key);

	if (v && !json_is_string(v))
		return wrong(key, f);
	text_copy(to, size, v ? json_string_value(v) : "");
	return 0;
}

static int read_link(const json_t *parent, const char *key, struct path_link *l, struct fault *f)
{
	const json_t *from = json_object_get(parent, key);

	if (!from)
		return 0;
	if (!json_is_object(from))
		return wrong(key, f);
	if (read_text(from, "pci", l->pci, sizeof(l->pci), f) ||
	    read_real(from, "gts", &l->gts, f) || read_real(from, "max_gts", &l->max_gts, f) ||
	    read_count(from, "width", WIDTH_MAX, &l->width, f) ||
	    read_count(from, "max_width", WIDTH_MAX, &l->max_width, f))
		return -1;
	return 0;
}

static enum path_class read_class(const json_t *from)
{
	const char *name = json_string_value(json_object_get(from, "class"));
	enum path_class c = 0;

	while (name && c < PATH_UNKNOWN && strcmp(path_class_name(c), name) != 0)
		c++;
	return name ? c : PATH_UNKNOWN;
}

int path_from_json(struct path *p, const json_t *from, struct fault *f)
{
	memset(p, 0, sizeof(*p));
	p->class = read_class(from);
	p->trained_down = json_object_get(from, "trained_down") != NULL;
	p->iommu_translates = json_is_true(json_object_get(from, "iommu_translates"));
	p->virtual_machine = json_is_true(json_object_get(from, "virtual_machine"));
	if (read_link(from, "nic_link", &p->nic, f) || read_link(from, "gpu_link", &p->gpu, f) ||
	    read_link(from, "trained_down", &p->down, f) ||
	    read_text(from, "iommu", p->iommu, sizeof(p->iommu), f) ||
	    read_count(from, "payload_bytes", PAYLOAD_MAX, &p->payload_bytes, f) ||
	    read_real(from, "ceiling_write_gbps", &p->ceiling_write_gbps, f) ||
	    read_real(from, "ceiling_read_gbps", &p->ceiling_read_gbps, f))
		return -1;
	return 0;
}
