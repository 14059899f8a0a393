// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * gpu_probe: gpu.h in the hands of the tests. `gpu_probe ACTION [ARG…]` does it and says how it
 * went; a fault goes to stderr as programs print it, its code is the exit status.
 */
#include "probe.h"

#include <stdlib.h>
#include <string.h>

#include "memory/vendors.h"

static int list(char **arg, struct fault *f)
{
	struct gpu_info *all;
	size_t count;

	(void)arg;
	if (gpu_list(&all, &count, f))
		return -1;
	for (size_t i = 0; i < count; i++)
		probe_print(&all[i]);
	free(all);
	return 0;
}

/* index N, uuid TEXT, pci TEXT; or two of them */
static int open_one(char **arg, struct fault *f)
{
	struct gpu_attr wish = {.index = -1};
	struct gpu *g;

	for (; arg[0] && arg[1]; arg += 2) {
		if (!strcmp(arg[0], "index"))
			wish.index = atoi(arg[1]);
		else if (!strcmp(arg[0], "uuid"))
			wish.uuid = arg[1];
		else
			wish.pci = arg[1];
	}
	if (gpu_open(&g, &wish, f))
		return -1;
	probe_print(&g->info);
	gpu_close(g);
	return 0;
}

static int names(char **arg, struct fault *f)
{
	(void)f;
	for (; *arg; arg++)
		printf("%s\n", memory_cuda()->error_name(atoi(*arg)));
	return 0;
}

static const struct {
	const char *name;
	probe_action *run;
} actions[] = {
	{"list", list},           {"open", open_one},       {"names", names},
	{"alloc", probe_alloc},   {"copies", probe_copies}, {"export", probe_export},
	{"flush", probe_flush},   {"stream", probe_stream}, {"order", probe_order},
	{"touch", probe_touch},   {"flips", probe_flips},   {"threads", probe_threads},
	{"routes", probe_routes}, {"choose", probe_choose}, {"register", probe_register},
	{"move", probe_move},     {"pair", probe_pair},
};

void probe_print(const struct gpu_info *i)
{
	printf("%d|%s|%s|%s|driver %d|cc %d|gpudirect %d|dmabuf %d|flush %d|ordering %d|memory "
	       "%llu|bar1 %llu\n",
	       i->index, i->name, i->uuid, i->pci, i->driver_version, i->capability, i->gpudirect,
	       i->dmabuf, i->can_flush, i->ordering, (unsigned long long)i->memory_bytes,
	       (unsigned long long)i->bar1_bytes);
}

uint64_t probe_memory(struct gpu *g, struct memory *m, size_t bytes, struct fault *f)
{
	*m = (struct memory){.bytes = 0};
	if (g)
		memory_alloc(m, &(struct memory_attr){.gpu = g, .bytes = bytes}, f);
	return m->addr;
}

int probe_fail(struct fault *f, const char *what, int line)
{
	return fault_raise(f, FAULT_DATA, 0, "line %d: not so: %s", line, what);
}

int main(int argc, char **argv)
{
	struct fault f = {0};

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; argc > 1 && i < sizeof(actions) / sizeof(actions[0]); i++) {
		if (strcmp(actions[i].name, argv[1]))
			continue;
		if (actions[i].run(argv + 2, &f))
			fault_print(&f, "gpu_probe", stderr);
		return fault_exit_status(&f);
	}
	fprintf(stderr, "gpu_probe: there is no such action\n");
	return 2;
}
