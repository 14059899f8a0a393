// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* This end's GPU: the one that the options name; for gdr_bw without --plain else the nearest. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/phase.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/sweep.h"
#include "endpoint/rail.h"
#include "endpoint/worker.h"
#include "host/path.h"
#include "plan/test.h"

/* The first vendor whose option is given, NULL: none; *NAMED: how often a GPU is named. */
static const struct memory_ops *vendor_asked_for(const struct options *o, unsigned *named)
{
	const struct memory_ops *vendor, *found = NULL;

	*named = !!o->local.gpu.list + !!o->local.cuda_bus_id;
	for (size_t i = 0; (vendor = gpu_vendor(i)); i++)
		if (vendor->option && options_given(o, vendor->option)) {
			found = found ?: vendor;
			++*named;
		}
	return found;
}

static bool is_asked_for(const struct options *o)
{
	unsigned named;

	vendor_asked_for(o, &named);
	return named;
}

/* Check options for a test with one kind of round: GPU options need a GPU. */
static int check_path(const struct options *o, struct fault *f)
{
	const struct local_options *l = &o->local;
	const char *option = l->cuda_dmabuf ? "--use_cuda_dmabuf"
			     : l->gpu_path == GPU_PATH_DATA_DIRECT
				     ? "--use_data_direct (--gpu-path data_direct)"
				     : "--gpu-path";

	if (l->gpu_path == GPU_PATH_AUTO || is_asked_for(o))
		return 0;
	return fault_usage(f, "name the GPU with --gpu", "%s needs a GPU", option);
}

/* perftest's other kinds of CUDA memory, and what only Data Direct has. */
static int check_cuda(const struct local_options *l, struct fault *f)
{
	static const struct {
		const char *cause, *fix;
	} kinds[] = {
		[1] = {"What a NIC reaches of managed memory are pages of the host, but on "
		       "machines whose CPU and GPU share addresses; rdmark cannot tell which",
		       "omit it for the GPU's memory, or use --odp without a GPU for the host's"},
		[2] = {"perftest has this number, but no such memory", "omit it"},
		[3] = {"perftest has this number, but no such memory", "omit it"},
		[4] = {"Memory of malloc() is the host's", "use --odp without a GPU"},
	};

	if (l->cuda_mem_type) {
		fault_raise(f, FAULT_USAGE, 0, "--cuda_mem_type=%u is not supported",
			    (unsigned)l->cuda_mem_type);
		fault_cause(f, "%s", kinds[l->cuda_mem_type].cause);
		return fault_fix(f, "%s", kinds[l->cuda_mem_type].fix);
	}
	if (!l->cuda_pcie || l->gpu_path == GPU_PATH_DATA_DIRECT)
		return 0;
	fault_raise(f, FAULT_USAGE, 0, "--use_cuda_pcie_mapping needs --use_data_direct");
	fault_cause(f, "Only Data Direct can use this mapping: other NICs register it, and their "
		       "transfers then fail");
	return fault_fix(f, "add --use_data_direct, or omit it");
}

int endpoint_gpu_check(struct options *o, const struct test *test, struct fault *f)
{
	struct local_options *l = &o->local;
	unsigned named;

	vendor_asked_for(o, &named);
	if (named > 1)
		return fault_usage(f, "give one of --gpu, --use_cuda_bus_id, --use_cuda and so on",
				   "%u options name the GPU of this end", named);
	if (check_cuda(l, f))
		return -1;
	if (l->cuda_dmabuf && l->gpu_path == GPU_PATH_PEERMEM)
		return fault_usage(f, "omit one of the two",
				   "--use_cuda_dmabuf cannot be used with another --gpu-path");
	if (l->cuda_dmabuf && l->gpu_path == GPU_PATH_AUTO)
		l->gpu_path = GPU_PATH_DMABUF;
	/* perftest's options ask for perftest's row. */
	if (test->schedule && l->host && ((!l->gpu.list && named) || l->cuda_dmabuf))
		o->experiment.plain = 1;
	/* A server of gdr_bw without --plain learns from the client what to run. */
	if (test->schedule && !l->host)
		return 0;
	if (test->schedule && !o->experiment.plain)
		return options_check(o, TRAIT_SCHEDULE, f);
	return check_path(o, f);
}

/*
 * Parse NAME of a GPU in O: "3" is an index, a name with a colon a PCI address, any other a UUID.
 */
static struct gpu_attr wanted_gpu(const struct options *o, const char *name)
{
	uint64_t index = o->local.vendor_gpu;
	struct gpu_attr wanted = {.index = -1, .pci = o->local.cuda_bus_id};
	unsigned named;

	wanted.vendor = vendor_asked_for(o, &named);
	if (strchr(name, ':'))
		wanted.pci = name;
	else if (name[0] && units_parse_u64(name, &index) != 0)
		wanted.uuid = name;
	if (!wanted.pci && !wanted.uuid)
		wanted.index = index > INT_MAX ? INT_MAX : (int)index;
	return wanted;
}

/*
 * Returns the index of the GPU nearest to the NIC, the first if the distances are unknown, -1 if
 * there is none.
 */
static int nearest_gpu(struct endpoint *ep, struct gpu_info *list, size_t count)
{
	struct path_tree *t = NULL;

	if (count && path_open(&t, ep->fault) == 0)
		gpu_sort(list, count, t, ep->rail[0].hca.info.place.pci, ep->fault);
	path_close(t);
	return count ? list[0].index : -1;
}

/* For gdr_bw without --plain: no GPU is a finding, not a failure. */
static int open_nearest(struct endpoint *ep)
{
	struct gpu_attr wanted = {.index = -1};
	struct gpu_info *list = NULL;
	size_t count = 0;

	fault_phase(&ep->gpu_absent, PHASE_FIND_GPUS);
	if (gpu_list(&list, &count, &ep->gpu_absent) == 0)
		wanted.index = nearest_gpu(ep, list, count);
	fault_for_memory(&ep->gpu_absent, ep->fault);
	free(list);
	if (fault_is(ep->fault))
		return -1;
	return wanted.index < 0 ? 0 : gpu_open(&ep->gpu, &wanted, ep->fault);
}

static int describe_gpu(struct endpoint *ep)
{
	const struct gpu_info *gpu = &ep->gpu->info;
	struct end *e = &ep->rail[0].mine;
	struct path_tree *t = NULL;
	struct fault unknown = {0};
	struct path kind = {.class = PATH_UNKNOWN};

	snprintf(e->gpu, sizeof(e->gpu), "GPU %d (%.50s, %s", gpu->index, gpu->name, gpu->pci);
	if (gpu->bar1_bytes)
		text_add(e->gpu, sizeof(e->gpu), ", BAR1 %s", units_size(gpu->bar1_bytes).text);
	text_add(e->gpu, sizeof(e->gpu), "%s)", gpu->integrated ? ", shares the host's memory" : "");
	snprintf(e->gpu_uuid, sizeof(e->gpu_uuid), "%s", gpu->uuid);
	if (path_open(&t, &unknown) == 0)
		path_find(t, ep->rail[0].hca.info.place.pci, gpu->pci, &kind);
	path_close(t);
	e->gpu_distance = kind.class;
	return fault_for_memory(&unknown, ep->fault) ? -1 : 0;
}

int endpoint_gpu_find(struct endpoint *ep)
{
	const struct options *o = ep->options;
	const char *rest = o->local.gpu.at ? NULL : o->local.gpu.list;
	struct gpu_attr wanted;
	struct gpu_info info;
	char name[64] = "";

	if (ep->gpu || !is_asked_for(o))
		return 0;
	fault_phase(ep->fault, PHASE_OPEN_GPU);
	/* Of several, each must be there before the first one is measured. */
	while (o->sweep.axes && text_next(&rest, name, sizeof(name))) {
		wanted = wanted_gpu(o, name);
		if (gpu_find(&wanted, &info, ep->fault))
			return -1;
	}
	if (o->local.gpu.list)
		sweep_value(o, options_find("gpu"), name, sizeof(name));
	wanted = wanted_gpu(o, name);
	return gpu_open(&ep->gpu, &wanted, ep->fault);
}

/* True if this end needs a GPU. Call it when the experiment is known. */
static bool may_use(struct endpoint *ep)
{
	ep->own_schedule = ep->test->schedule && !ep->options->experiment.plain;
	return ep->own_schedule || is_asked_for(ep->options);
}

void endpoint_gpu_start(struct endpoint *ep)
{
	struct fault absent = {0}; /* found again, and reported to the peer, when it is opened */
	struct gpu_info *list = NULL;
	size_t count;

	if (may_use(ep) && gpu_list(&list, &count, &absent) == 0)
		free(list);
}

void endpoint_gpu_before_open(struct endpoint *ep)
{
	if (may_use(ep))
		gpu_route_before_open();
}

/* gdr_bw without --plain runs on one thread and one device, and sets the direction of each cell. */
static int check_own_schedule(struct endpoint *ep)
{
	const struct experiment *e = &ep->options->experiment;
	const char *what = ep->rails > 1    ? "several devices"
			   : e->threads > 1 ? "several threads"
			   : e->reversed    ? "--reversed"
					    : NULL;

	if (!ep->own_schedule || !what)
		return 0;
	return fault_usage(ep->fault, "add --plain for a single row, or omit it",
			   "%s cannot be used without --plain", what);
}

int endpoint_gpu_open(struct endpoint *ep)
{
	if (check_own_schedule(ep) ||
	    (!ep->own_schedule && ep->test->schedule && check_path(ep->options, ep->fault)))
		return -1;
	if (endpoint_gpu_find(ep) || (!ep->gpu && ep->own_schedule && open_nearest(ep)))
		return -1;
	if (!ep->gpu)
		return 0;
	ep->gpu_memory = !ep->own_schedule;
	return describe_gpu(ep);
}

int endpoint_gpu_memory(struct worker *t, size_t bytes, unsigned access, struct mem *m)
{
	struct endpoint *ep = t->ep;
	struct mem_attr attr = {
		.pd = t->qps.pd, .memory = {.gpu = ep->gpu, .bytes = bytes}, .access = access};
	struct end *e = &t->rail->mine;
	struct gpu_choice choice = {
		.pd = attr.pd, .gpu = ep->gpu, .wanted = (enum gpu_path)ep->options->local.gpu_path};

	fault_phase(&t->fault, PHASE_GPU_ROUTE);
	if (gpu_route_choose(&choice, &t->fault))
		return -1;
	e->gpu_path = attr.route = choice.route;
	gpu_choice_format(&choice, e->gpu_chosen, sizeof(e->gpu_chosen));
	return mem_init(m, &attr, &t->fault);
}
