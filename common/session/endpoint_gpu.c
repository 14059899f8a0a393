// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* This end's GPU: the one that is asked for, or for a matrix of cells the one nearest to the NIC.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "host/path.h"
#include "session/state.h"

static bool is_asked_for(const struct session *s)
{
	const struct local_options *l = &s->options.local;

	return l->gpu || l->cuda != EXPERIMENT_AUTO || l->cuda_bus_id;
}

/* One kind of round: a way to GPU memory wants a GPU, and must be a direct one. */
static int check_path(struct session *s)
{
	const struct local_options *l = &s->options.local;

	if (l->gpu_path == GPU_PATH_AUTO)
		return 0;
	if (!is_asked_for(s)) {
		fault_raise(&s->fault, FAULT_USAGE, 0, "%s without a GPU",
			    l->cuda_dmabuf ? "--use_cuda_dmabuf" : "--gpu-path");
		return fault_fix(&s->fault, "name the GPU with --gpu");
	}
	if (l->gpu_path != GPU_PATH_STAGED)
		return 0;
	fault_raise(&s->fault, FAULT_USAGE, 0, "--gpu-path staged: %s%s moves data directly",
		    s->test->name, s->test->schedule ? " --plain" : "");
	return fault_fix(&s->fault,
			 "gdr_bw, without --plain, measures the way through host memory");
}

/* All cells: what is for rounds of one kind only cannot be had. */
static int check_matrix(struct session *s)
{
	static const char *const plain[] = {"repeat",        "until-stable", "cpu_util",
					    "min-bw",        "min-msgrate",  "limit_bw",
					    "limit_msgrate", "out_json",     "out_json_file",
					    "output",        "interval",     "warmup"};

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (options_given(&s->options, plain[i])) {
			fault_raise(&s->fault, FAULT_USAGE, 0, "--%s with all cells", plain[i]);
			return fault_fix(&s->fault, "add --plain for one row, or leave it out");
		}
	return 0;
}

int endpoint_gpu_check(struct session *s)
{
	struct local_options *l = &s->options.local;
	struct fault *f = &s->fault;

	if (!!l->gpu + (l->cuda != EXPERIMENT_AUTO) + !!l->cuda_bus_id > 1) {
		fault_raise(f, FAULT_USAGE, 0,
			    "--gpu, --use_cuda, --use_cuda_bus_id: more than one");
		return fault_fix(f, "each of them names the GPU of this end: give one");
	}
	if (l->cuda_dmabuf && l->gpu_path != GPU_PATH_AUTO && l->gpu_path != GPU_PATH_DMABUF) {
		fault_raise(f, FAULT_USAGE, 0, "--use_cuda_dmabuf with another --gpu-path");
		return fault_fix(f, "leave one of them out");
	}
	if (l->cuda_dmabuf)
		l->gpu_path = GPU_PATH_DMABUF;
	/* perftest's options ask for perftest's row. */
	if (s->test->schedule && l->host &&
	    (l->cuda != EXPERIMENT_AUTO || l->cuda_bus_id || l->cuda_dmabuf))
		s->options.experiment.plain = 1;
	/* A server of cells learns from the client what is to be run. */
	if (s->test->schedule && !l->host)
		return 0;
	return s->test->schedule && !s->options.experiment.plain ? check_matrix(s) : check_path(s);
}

/* "3" is an index, what has a colon a PCI address, all else a UUID. */
static struct gpu_wish wish_of(const struct session *s)
{
	const struct local_options *l = &s->options.local;
	uint64_t index = l->cuda;
	struct gpu_wish wish = {.index = -1, .pci = l->cuda_bus_id};

	if (l->gpu && strchr(l->gpu, ':'))
		wish.pci = l->gpu;
	else if (l->gpu && units_parse_u64(l->gpu, &index) != 0)
		wish.uuid = l->gpu;
	if (!wish.pci && !wish.uuid)
		wish.index = index > INT_MAX ? INT_MAX : (int)index;
	return wish;
}

/* The index of the GPU nearest to the NIC, -1 if there is none. Where nothing is known: the first.
 */
static int nearest(struct session *s, const struct gpu_info *list, size_t count)
{
	struct path_tree *t = NULL;
	const char **pci = calloc(count, sizeof(*pci));
	size_t *rank = calloc(count, sizeof(*rank));
	int index = count ? list[0].index : -1;

	for (size_t i = 0; pci && i < count; i++)
		pci[i] = list[i].pci;
	if (pci && rank && count && path_open(&t, &s->fault) == 0) {
		path_rank(t, s->rail[0].hca.info.place.pci, pci, count, rank);
		index = list[rank[0]].index;
	}
	path_close(t);
	free(rank);
	free(pci);
	return index;
}

/* For a matrix of cells: no GPU is a finding, not a failure. */
static int open_nearest(struct session *s)
{
	struct gpu_wish wish = {.index = -1};
	struct gpu_info *list = NULL;
	size_t count = 0;

	fault_phase(&s->gpu_absent, "looking for a GPU");
	if (gpu_list(&list, &count, &s->gpu_absent) == 0)
		wish.index = nearest(s, list, count);
	free(list);
	if (fault_is(&s->fault))
		return -1;
	return wish.index < 0 ? 0 : gpu_open(&s->gpu, &wish, &s->fault);
}

static void describe(struct session *s)
{
	const struct gpu_info *gpu = gpu_about(s->gpu);
	struct end *e = &s->rail[0].mine;
	struct path_tree *t = NULL;
	struct fault unknown = {0};
	struct path way = {.class = PATH_UNKNOWN};
	char bar1[32];

	snprintf(e->gpu, sizeof(e->gpu), "GPU %d (%.60s, %s%s%s)", gpu->index, gpu->name, gpu->pci,
		 gpu->bar1_bytes ? ", BAR1 " : "",
		 gpu->bar1_bytes ? units_format_size(gpu->bar1_bytes, bar1, sizeof(bar1)) : "");
	snprintf(e->gpu_uuid, sizeof(e->gpu_uuid), "%s", gpu->uuid);
	if (path_open(&t, &unknown) == 0)
		path_find(t, s->rail[0].hca.info.place.pci, gpu->pci, &way);
	path_close(t);
	snprintf(e->gpu_distance, sizeof(e->gpu_distance), "%s", path_class_name(way.class));
}

int endpoint_gpu_look(struct session *s)
{
	struct gpu_wish wish = wish_of(s);

	if (s->gpu || !is_asked_for(s))
		return 0;
	fault_phase(&s->fault, "opening the GPU");
	return gpu_open(&s->gpu, &wish, &s->fault);
}

void endpoint_gpu_start(struct session *s)
{
	struct fault absent = {0}; /* found again, and told to the peer too, when it is opened */
	struct gpu_info *list = NULL;
	size_t count;
	bool matrix = s->test->schedule && !s->options.experiment.plain;

	if ((matrix || is_asked_for(s)) && gpu_list(&list, &count, &absent) == 0)
		free(list);
}

void endpoint_gpu_before_open(struct session *s)
{
	s->matrix = s->test->schedule && !s->options.experiment.plain;
	if (s->matrix || is_asked_for(s))
		gpu_route_before_open();
}

int endpoint_gpu_open(struct session *s)
{
	if (!s->matrix && s->test->schedule && check_path(s))
		return -1;
	if (endpoint_gpu_look(s) || (!s->gpu && s->matrix && open_nearest(s)))
		return -1;
	if (!s->gpu)
		return 0;
	s->gpu_memory = !s->matrix;
	describe(s);
	return 0;
}

int endpoint_gpu_memory(struct strand *t, size_t bytes, unsigned access)
{
	struct session *s = t->session;
	struct gpu_mr_ask ask = {.pd = t->qps.pd, .gpu = s->gpu, .bytes = bytes, .access = access};
	struct end *e = &t->rail->mine;
	struct gpu_routes routes;

	fault_phase(&t->fault, "choosing the way to GPU memory");
	if (gpu_routes_probe(&routes, ask.pd, s->gpu, &t->fault) ||
	    gpu_routes_choose(&routes, (enum gpu_path)s->options.local.gpu_path, &ask.route,
			      &t->fault))
		return -1;
	snprintf(e->gpu_path, sizeof(e->gpu_path), "%s", gpu_route_name(ask.route));
	gpu_routes_format(&routes, ask.route, e->gpu_chosen, sizeof(e->gpu_chosen));
	if (ask.route == GPU_ROUTE_STAGED) {
		fault_raise(&t->fault, FAULT_UNAVAILABLE, 0, "no direct way to %s", e->gpu);
		fault_cause(&t->fault, "It could only be %s", e->gpu_chosen);
		return fault_fix(&t->fault, "gdr_bw measures that, and says more");
	}
	ask.addr = t->gpu_buffer = gpu_alloc(s->gpu, bytes, &t->fault);
	if (!ask.addr)
		return -1;
	snprintf(e->memory, sizeof(e->memory), "gpu");
	return mem_init_gpu(&t->mem, &ask, &t->fault);
}
