// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/cgroup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/text.h"
#include "base/units.h"

#define ROOT "/sys/fs/cgroup"

/* The number behind KEY in the file TEXT of a cgroup; 0: there is none. */
static double number_of(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtod(at + strlen(key), NULL) : 0;
}

/* Read the lines of FILE that limit something. */
static void read_lines(struct cgroup_limit *l, const char *file)
{
	char path[320], text[4096], *rest = text, *line;

	snprintf(path, sizeof(path), ROOT "%s/%s", l->dir, file);
	text_read(path, text, sizeof(text));
	l->text[0] = '\0';
	while ((line = strsep(&rest, "\n")))
		if (line[0] && strncmp(line, "max", 3) != 0 &&
		    !strstr(line, "hca_handle=max hca_object=max"))
			text_add(l->text, sizeof(l->text), "%s%s", l->text[0] ? "; " : "", line);
}

/* The cgroup that this process is in. */
static void find_own(struct cgroup_limit *l)
{
	char text[4096];
	const char *dir;

	text_read("/proc/self/cgroup", text, sizeof(text));
	dir = text_value(text, "0:");
	snprintf(l->dir, sizeof(l->dir), "%.*s", dir ? (int)strcspn(dir, "\n") : 0, dir ? dir : "");
	if (strcmp(l->dir, "/") == 0) /* the root */
		l->dir[0] = '\0';
}

/* Go from L to the one above it. False: there is none. */
static bool go_up(struct cgroup_limit *l)
{
	char *parent = strrchr(l->dir, '/');

	if (parent)
		*parent = '\0';
	return parent;
}

bool cgroup_find(const char *file, struct cgroup_limit *l)
{
	find_own(l);
	do
		read_lines(l, file);
	while (!l->text[0] && go_up(l));
	return l->text[0];
}

struct cgroup_stops cgroup_stops(const struct cgroup_stops *before)
{
	struct cgroup_stops most = {.limited = false};
	struct cgroup_limit l;
	char path[320], text[4096];
	double count;

	find_own(&l);
	do {
		read_lines(&l, "cpu.max");
		if (!l.text[0])
			continue;
		most.limited = true;
		snprintf(path, sizeof(path), ROOT "%s/cpu.stat", l.dir);
		text_read(path, text, sizeof(text));
		count = number_of(text, "nr_throttled ");
		if (count < most.count)
			continue;
		most.count = count;
		most.seconds = number_of(text, "throttled_usec ") / 1e6;
	} while (go_up(&l));
	if (before) {
		most.count -= before->count;
		most.seconds -= before->seconds;
	}
	return most;
}

int cgroup_check_memory(uint64_t bytes, struct fault *f)
{
	struct cgroup_limit l;
	char path[320], text[4096];
	const char *swap;
	uint64_t limit, used;

	text_read("/proc/meminfo", text, sizeof(text));
	swap = text_value(text, "SwapTotal");
	if ((swap && strtoull(swap, NULL, 10)) || !cgroup_find("memory.max", &l))
		return 0;
	limit = strtoull(l.text, NULL, 10);
	snprintf(path, sizeof(path), ROOT "%s/memory.stat", l.dir);
	text_read(path, text, sizeof(text));
	used = (uint64_t)number_of(text, "anon ");
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
	if (rc == EAGAIN && sched_getscheduler(0) == SCHED_DEADLINE) {
		fault_cause(f, "A thread in SCHED_DEADLINE cannot start another one");
		return fault_fix(f, "use chrt -R -d, or another class (chrt -f)");
	}
	if (rc == EAGAIN && cgroup_find("pids.max", &l))
		fault_cause(f, "pids.max of the cgroup is %s", l.text);
	else if (rc == EAGAIN && !getrlimit(RLIMIT_NPROC, &user) && user.rlim_cur != RLIM_INFINITY)
		fault_cause(f, "RLIMIT_NPROC is %llu", (unsigned long long)user.rlim_cur);
	return fault_fix(f, "use fewer --threads, or raise the limit on threads (TasksMax= of the "
			    "service, --pids-limit of the container, ulimit -u)");
}
