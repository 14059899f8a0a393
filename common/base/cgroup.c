// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/cgroup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/text.h"
#include "base/units.h"

#define ROOT "/sys/fs/cgroup"

/* Write to REST what is after KEY at the start of a line of the file PATH; "": nothing. */
static void find_line(const char *path, const char *key, char *rest, size_t size)
{
	FILE *in = fopen(path, "re");
	size_t n = strlen(key);
	char line[320];

	rest[0] = '\0';
	while (in && fgets(line, sizeof(line), in))
		if (strncmp(line, key, n) == 0)
			snprintf(rest, size, "%.*s", (int)strcspn(line + n, "\n"), line + n);
	if (in)
		fclose(in);
}

/* The number there; 0: none. */
static uint64_t number_of(const char *path, const char *key)
{
	char text[64];

	find_line(path, key, text, sizeof(text));
	return strtoull(text, NULL, 10);
}

/* Read the lines of FILE that limit something. */
static void read_lines(struct cgroup_limit *l, const char *file)
{
	char path[320], line[160];
	FILE *in;

	snprintf(path, sizeof(path), ROOT "%s/%s", l->dir, file);
	in = fopen(path, "re");
	l->text[0] = '\0';
	while (in && fgets(line, sizeof(line), in)) {
		line[strcspn(line, "\n")] = '\0';
		if (strcmp(line, "max") != 0 && !strstr(line, "hca_handle=max hca_object=max"))
			text_add(l->text, sizeof(l->text), "%s%s", l->text[0] ? "; " : "", line);
	}
	if (in)
		fclose(in);
}

bool cgroup_find(const char *file, struct cgroup_limit *l)
{
	char *parent;

	find_line("/proc/self/cgroup", "0::", l->dir, sizeof(l->dir));
	if (strcmp(l->dir, "/") == 0) /* the root */
		l->dir[0] = '\0';
	for (;;) {
		read_lines(l, file);
		parent = strrchr(l->dir, '/');
		if (l->text[0] || !parent)
			return l->text[0];
		*parent = '\0';
	}
}

int cgroup_check_memory(uint64_t bytes, struct fault *f)
{
	struct cgroup_limit l;
	char path[320];
	uint64_t limit, used;

	if (!cgroup_find("memory.max", &l) || number_of("/proc/meminfo", "SwapTotal:"))
		return 0;
	limit = strtoull(l.text, NULL, 10);
	snprintf(path, sizeof(path), ROOT "%s/memory.stat", l.dir);
	used = number_of(path, "anon ");
	if (used <= limit && bytes <= limit - used)
		return 0;
	fault_raise(f, FAULT_LOCAL, ENOMEM, "allocating %s", units_size(bytes).text);
	fault_cause(
		f,
		"The cgroup may have %s (memory.max), and has %s: the kernel would kill this process",
		units_size(limit).text, units_size(used).text);
	return fault_fix(
		f, "use smaller messages (-s) or fewer QPs (-q), or raise the limit (memory of "
		   "the container, MemoryMax= of the service)");
}

int cgroup_thread(pthread_t *thread, void *(*run)(void *), void *arg, struct fault *f)
{
	int rc = pthread_create(thread, NULL, run, arg);
	struct cgroup_limit l;
	struct rlimit user;

	if (!rc)
		return 0;
	fault_raise(f, FAULT_LOCAL, rc, "pthread_create");
	if (rc == EAGAIN && cgroup_find("pids.max", &l))
		fault_cause(f, "pids.max of the cgroup is %s", l.text);
	else if (rc == EAGAIN && !getrlimit(RLIMIT_NPROC, &user) && user.rlim_cur != RLIM_INFINITY)
		fault_cause(f, "RLIMIT_NPROC is %llu", (unsigned long long)user.rlim_cur);
	return fault_fix(f, "use fewer --threads, or raise the limit on threads (TasksMax= of the "
			    "service, --pids-limit of the container, ulimit -u)");
}
