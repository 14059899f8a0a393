// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "measure/counting.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "host/sysfs.h"

#define COUNTERS_MAX 1024
#define NAME_BYTES   160 /* of a counter, with "DEVICE/" before it */

static const char *const folders[] = {"hw_counters", "counters"};

#define FOLDERS (sizeof(folders) / sizeof(folders[0]))

/* Add the counter PATH, relative to R's port. Returns 0, or -errno if it cannot be read. */
static int add_counter(struct rail *r, const char *path)
{
	int64_t value;
	int rc = sysfs_read_int(&value, "%s/%s", r->events.port, path);

	if (!rc)
		json_object_set_new(r->counters, path, json_integer(value));
	return rc;
}

/* Add the counter NAME: a path such as "counters/x", or a file name that is in a folder. */
static int add_named(struct rail *r, const char *name)
{
	char path[NAME_BYTES];
	int rc = -ENOENT;

	if (!*name || *name == '/' || strstr(name, "..")) /* must stay in the port's folder */
		return -EINVAL;
	if (strchr(name, '/'))
		return add_counter(r, name);
	for (size_t i = 0; rc == -ENOENT && i < FOLDERS; i++) {
		snprintf(path, sizeof(path), "%s/%s", folders[i], name);
		rc = add_counter(r, path);
	}
	return rc;
}

/* Add every counter of the port. Files that hold no number, as some devices have, are skipped. */
static int add_all(struct rail *r)
{
	char name[SYSFS_NAME], path[NAME_BYTES];

	for (size_t i = FOLDERS; i-- > 0;)
		for (unsigned n = 0; !sysfs_name(name, n, "%s/%s", r->events.port, folders[i]);
		     n++) {
			snprintf(path, sizeof(path), "%s/%s", folders[i], name);
			if (strcmp(name, "lifespan") != 0)
				add_counter(r, path);
		}
	return json_object_size(r->counters) ? 0 : -ENOENT;
}

/* Find and read the counters of R in LIST, which is changed. */
static int find_counters(struct rail *r, char *list, struct fault *f)
{
	bool all = strcmp(list, "all") == 0;
	char *name = list;
	int rc = 0;

	r->counters = json_object();
	r->events.age.read_ns = clock_now_ns();
	if (all)
		rc = add_all(r);
	while (!rc && !all && (name = strsep(&list, ",")))
		rc = add_named(r, name);
	if (!rc)
		return 0;
	fault_raise(f, FAULT_USAGE, -rc, "-W/--report-counters: '%.60s'", name);
	fault_cause(f, "The port has no readable counter of that name");
	return fault_fix(f,
			 "give file names from %s/%s/hw_counters or counters, separated by commas, "
			 "or all, or omit -W",
			 sysfs_root(), r->events.port);
}

int counting_start(struct measure *ms)
{
	const char *list = ms->options->local.counters;

	fault_phase(ms->fault, "reading the port's counters");
	for (unsigned i = 0; list && i < ms->ep->rails; i++) {
		char *copy = strdup(list);
		int rc = copy ? find_counters(&ms->ep->rail[i], copy, ms->fault)
			      : fault_raise(ms->fault, FAULT_LOCAL, ENOMEM, "allocating names");

		free(copy);
		if (rc)
			return -1;
	}
	return 0;
}

/*
 * How counter NAME went from BEFORE to AFTER (not an integer: it could not be read): "change" is
 * null if it is unknown; "caveat" says why a change is not exact.
 */
static json_t *counter_to_json(const char *name, const json_t *before, const json_t *after)
{
	struct counter k = {
		.before = json_integer_value(before),
		.after = json_integer_value(after),
		.unreadable = !json_is_integer(after),
	};
	enum counter_caveat caveat;
	int64_t change;
	json_t *one;

	snprintf(k.name, sizeof(k.name), "%s", name);
	caveat = counter_change(&k, &change);
	one = json_pack("{s:I,s:o,s:o}", "before", (json_int_t)k.before, "after",
			k.unreadable ? json_null() : json_integer(k.after), "change",
			caveat > COUNTER_MINIMUM ? json_null() : json_integer(change));
	if (caveat)
		json_object_set_new(one, "caveat", json_string(counter_caveat_name(caveat)));
	return one;
}

/* Read R's counters again. Add them to TO by name, and by device if there are SEVERAL. */
static void read_again(struct rail *r, bool several, json_t *to)
{
	const char *path;
	char name[NAME_BYTES];
	json_t *before;

	counters_refresh(&r->events.age);
	json_object_foreach(r->counters, path, before)
	{
		int64_t value;
		json_t *after = sysfs_read_int(&value, "%s/%s", r->events.port, path)
					? json_null()
					: json_integer(value);

		snprintf(name, sizeof(name), "%s%s%s", several ? r->hca.info.device : "",
			 several ? "/" : "", path);
		json_object_set_new(to, name, counter_to_json(path, before, after));
		json_decref(after);
	}
	json_decref(r->counters);
	r->counters = NULL;
}

void counting_stop(struct measure *ms, json_t *bye)
{
	json_t *mine;

	if (!ms->ep->rails || !ms->ep->rail[0].counters)
		return;
	mine = json_object();
	for (unsigned i = 0; i < ms->ep->rails; i++)
		read_again(&ms->ep->rail[i], ms->ep->rails > 1, mine);
	if (bye) /* the peer waits for this message */
		link_alive_start(ms->link);
	report_counters(ms->report, ms->ep->server ? "server" : "client", mine,
			strcmp(ms->options->local.counters, "all") != 0);
	if (bye) {
		link_alive_stop(ms->link);
		json_object_set(bye, "counters", mine);
	}
	json_decref(mine);
}

/* Names are the drivers': they may contain spaces ("RNR received"), but only printable ASCII. */
static bool is_counter_name(const char *text)
{
	size_t n = strlen(text);

	for (size_t i = 0; i < n; i++)
		if (text[i] < ' ' || text[i] > '~')
			return false;
	return n && n < NAME_BYTES;
}

static bool is_number_or_null(const json_t *v)
{
	return json_is_integer(v) || json_is_null(v);
}

static bool is_caveat(const json_t *v)
{
	for (int i = COUNTER_EXACT + 1; v && i < COUNTER_CAVEATS; i++)
		if (json_is_string(v) && strcmp(json_string_value(v), counter_caveat_name(i)) == 0)
			return true;
	return !v;
}

/* True if the peer's counter has the keys and types that counter_to_json() writes. */
static bool is_counter(const char *name, const json_t *one)
{
	const json_t *caveat = json_object_get(one, "caveat");

	return is_counter_name(name) && json_object_size(one) == (caveat ? 4 : 3) &&
	       json_is_integer(json_object_get(one, "before")) &&
	       is_number_or_null(json_object_get(one, "after")) &&
	       is_number_or_null(json_object_get(one, "change")) && is_caveat(caveat);
}

/* Check and report the counters of the peer's BYE, if it has any. */
int counting_read(struct measure *ms, const json_t *bye)
{
	json_t *theirs = json_object_get(bye, "counters"), *one;
	const char *name;

	if (!theirs)
		return 0;
	if (message_has(bye, "counters",
			json_is_object(theirs) && json_object_size(theirs) <= COUNTERS_MAX,
			ms->fault))
		return -1;
	json_object_foreach(theirs, name, one)
	{
		if (message_has(bye, "counters", is_counter(name, one), ms->fault))
			return -1;
	}
	report_counters(ms->report, ms->ep->server ? "client" : "server", theirs, false);
	return 0;
}
