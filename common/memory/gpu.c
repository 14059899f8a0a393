// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Asks every vendor for its GPUs, and finds the one that the user names. */
#include "memory/gpu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/phase.h"
#include "base/text.h"
#include "host/path.h"
#include "host/pci.h"
#include "host/sysfs.h"
#include "memory/vendors.h"

#define VENDOR_ROW(name) memory_##name,

static const struct memory_ops *(*const vendors[])(void) = {MEMORY_VENDORS(VENDOR_ROW)};

#define VENDORS (sizeof(vendors) / sizeof(vendors[0]))

const struct memory_ops *gpu_vendor(size_t i)
{
	return i < VENDORS ? vendors[i]() : NULL;
}

/* Append the GPUs of vendor OPS to *LIST. */
static int add_vendor(const struct memory_ops *ops, struct gpu_info **list, size_t *count,
		      struct fault *f)
{
	struct gpu_info *own = NULL, *all = NULL;
	size_t n = 0;

	if (!ops->list(&own, &n, f)) {
		all = realloc(*list, (*count + n + 1) * sizeof(*all));
		if (!all)
			fault_raise(f, FAULT_LOCAL, ENOMEM, "allocating a list of %zu GPUs", n);
	}
	for (size_t i = 0; all && i < n; i++) {
		own[i].ops = ops;
		own[i].index = (int)(*count + i);
		own[i].ordinal = (int)i;
		all[*count + i] = own[i];
	}
	free(own);
	if (!all)
		return -1;
	*list = all;
	*count += n;
	return 0;
}

/*
 * All vendors' GPUs. Fails if no vendor's driver works; then the one says why whose driver the
 * kernel has, otherwise the first one.
 */
static int list_all(struct gpu_info **list, size_t *count, struct fault *f)
{
	struct fault before = *f;
	bool known = false;

	*list = NULL;
	*count = 0;
	for (size_t i = 0; i < VENDORS; i++) {
		bool has = sysfs_exists("module/%s", vendors[i]()->module);
		struct fault why = before;

		if (add_vendor(vendors[i](), list, count, &why) && (!i || (has && !known)))
			*f = why;
		known |= has;
	}
	if (!*list)
		return -1;
	*f = before;
	return 0;
}

int gpu_list(struct gpu_info **list, size_t *count, struct fault *f)
{
	fault_phase(f, PHASE_FIND_GPUS);
	return list_all(list, count, f);
}

/* A GPU with what gpu_sort() orders by. */
struct gpu_rank {
	struct gpu_info gpu;
	enum path_class class;
	double ceiling_gbps;
};

static int compare_gpu_ranks(const void *a, const void *b)
{
	const struct gpu_rank *x = a, *y = b;

	if (x->class != y->class)
		return x->class < y->class ? -1 : 1;
	if (x->ceiling_gbps < y->ceiling_gbps || x->ceiling_gbps > y->ceiling_gbps)
		return x->ceiling_gbps > y->ceiling_gbps ? -1 : 1;
	return x->gpu.index < y->gpu.index ? -1 : 1;
}

int gpu_sort(struct gpu_info *list, size_t count, const struct path_tree *t, const char *nic,
	     struct fault *f)
{
	struct gpu_rank *r = calloc(count + 1, sizeof(*r));

	if (!r)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "sorting %zu GPUs", count);
	for (size_t i = 0; i < count; i++) {
		struct path p;

		path_find(t, nic, list[i].pci, &p);
		r[i] = (struct gpu_rank){list[i], p.class, p.ceiling_write_gbps};
	}
	qsort(r, count, sizeof(*r), compare_gpu_ranks);
	for (size_t i = 0; i < count; i++)
		list[i] = r[i].gpu;
	free(r);
	return 0;
}

/* "0 NVIDIA A100 0000:17:00.0 GPU-1234…, 1 …" */
static const char *format_gpu_list(const struct gpu_info *list, size_t count, char *buf,
				   size_t size)
{
	buf[0] = '\0';
	for (size_t i = 0; i < count; i++)
		text_add(buf, size, "%s%d %s %s %.12s", i ? ", " : "", list[i].index, list[i].name,
			 list[i].pci, list[i].uuid);
	return buf;
}

/* True if INFO matches the user's UUID (or its prefix), PCI address or index. */
static bool gpu_matches(const struct gpu_info *info, const struct gpu_attr *wanted)
{
	char pci[16];

	if (wanted->vendor && wanted->vendor != info->ops)
		return false;
	if (wanted->uuid) {
		const char *uuid = wanted->uuid;

		if (strncasecmp(uuid, "GPU-", 4) == 0)
			uuid += 4;
		return info->uuid[0] && uuid[0] &&
		       strncasecmp(info->uuid + 4, uuid, strlen(uuid)) == 0;
	}
	if (wanted->pci)
		return pci_parse(wanted->pci, pci) && strcmp(info->pci, pci) == 0;
	return (wanted->vendor ? info->ordinal : info->index) == wanted->index;
}

static const char *format_wanted(const struct gpu_attr *wanted, char *buf, size_t size)
{
	if (wanted->uuid)
		snprintf(buf, size, "UUID '%s'", wanted->uuid);
	else if (wanted->pci)
		snprintf(buf, size, "PCI address '%s'", wanted->pci);
	else
		snprintf(buf, size, "index %d%s%s", wanted->index, wanted->vendor ? " of " : "",
			 wanted->vendor ? wanted->vendor->name : "");
	return buf;
}

int gpu_find(const struct gpu_attr *wanted, struct gpu_info *info, struct fault *f)
{
	char what[96], all[400], pci[16];
	struct gpu_info *list = NULL;
	size_t count = 0, found = 0;
	int rc = 0;

	if (wanted->vendor) /* if that has no driver, no other's explains it */
		rc = add_vendor(wanted->vendor, &list, &count, f);
	free(list);
	if (rc || list_all(&list, &count, f))
		return -1;
	for (size_t i = 0; i < count; i++)
		if (gpu_matches(&list[i], wanted)) {
			found++;
			*info = list[i];
		}
	if (found == 1)
		goto out;
	format_wanted(wanted, what, sizeof(what));
	if (!wanted->uuid && wanted->pci && !pci_parse(wanted->pci, pci))
		fault_raise(f, FAULT_USAGE, 0, "'%s' is not a PCI address", wanted->pci);
	else if (found)
		fault_raise(f, FAULT_USAGE, 0, "%zu GPUs have a %s", found, what);
	else
		fault_raise(f, FAULT_USAGE, 0, "no GPU has %s", what);
	for (size_t i = 0; i < VENDORS; i++)
		if (getenv(vendors[i]()->hidden_by))
			fault_cause(f, "%s is '%s', which may hide GPUs", vendors[i]()->hidden_by,
				    getenv(vendors[i]()->hidden_by));
	fault_fix(f, "name one of these by index, PCI address or UUID: %s",
		  format_gpu_list(list, count, all, sizeof(all)));
out:
	free(list);
	return found == 1 ? 0 : -1;
}

int gpu_open(struct gpu **g, const struct gpu_attr *wanted, struct fault *f)
{
	struct gpu_info info;

	*g = NULL;
	fault_phase(f, PHASE_OPEN_GPU);
	if ((wanted->index >= 0) + !!wanted->uuid + !!wanted->pci != 1)
		return fault_usage(f, "give exactly one of these",
				   "a GPU is named by index, UUID or PCI address");
	if (gpu_find(wanted, &info, f) || info.ops->open(g, &info, f))
		return -1;
	(*g)->ops = info.ops;
	(*g)->info = info;
	return 0;
}

void gpu_close(struct gpu *g)
{
	if (g)
		g->ops->close(g);
}
