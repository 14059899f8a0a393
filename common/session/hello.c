// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Whether a client with this first message can be served. */
#include "session/program.h"

#include <string.h>

#include "cli/sweep.h"
#include "plan/limits.h"
#include "proto/fields.h"

static int check_versions(const json_t *m, struct fault *f)
{
	uint64_t protocol;
	char version[32];

	if (message_u64(m, "protocol", UINT32_MAX, &protocol, f) ||
	    message_text(m, "version", version, sizeof(version), f))
		return -1;
	if (protocol == MESSAGE_PROTOCOL)
		return 0;
	fault_raise(
		f, FAULT_USAGE, 0,
		"the two ends have different versions: server rdmark %s (protocol %d), client rdmark %s (protocol %u)",
		RDMARK_VERSION, MESSAGE_PROTOCOL, version, (unsigned)protocol);
	return fault_fix(f, "upgrade rdmark on the %s",
			 protocol > MESSAGE_PROTOCOL ? "server" : "client");
}

static int check_test(const struct offer *o, const json_t *m, struct fault *f)
{
	char test[32];

	if (message_text(m, "test", test, sizeof(test), f))
		return -1;
	if (strcmp(test, o->test->name) == 0) {
		if (fault_is(&o->refused))
			*f = o->refused;
		return fault_is(&o->refused) ? -1 : 0;
	}
	return fault_usage(
		f, "run the same program on both ends, or `rdmark server`, which serves every test",
		"the two ends run different tests: server %s, client %s", o->test->name, test);
}

#define ROW(member, ...) FIELD(struct hello_rail, member, __VA_ARGS__)
#define READS(member) \
	FIELD_AS("reads_" #member, struct hello_rail, reads.member, .min = 1, .max = UINT8_MAX)

const struct fields *hello_fields(void)
{
	static const struct field rows[] = {
		ROW(fabric, FIELD_REQUIRED, .max = FABRICS - 1), ROW(gid_kinds, FIELD_REQUIRED),
		ROW(mtu_bytes, FIELD_REQUIRED, .max = 4096), ROW(pkey), ROW(default_pkey),
		ROW(subnet), ROW(global), ROW(message_max), READS(sent), READS(answered)};
	static const struct fields table = FIELDS(rows, "the peer's device has an invalid");

	return &table;
}

/* Check that each rail of the client's offer has the keys that the server chooses from. */
static int check_rails(const json_t *rails, struct fault *f)
{
	struct hello_rail rail;
	const json_t *offer;
	size_t i;

	json_array_foreach (rails, i, offer)
		if (fields_read(hello_fields(), &rail, offer, f))
			return -1;
	return 0;
}

const struct offer *hello_wanted(const struct program *p, const json_t *hello)
{
	const char *test = json_string_value(json_object_get(hello, "test"));
	const struct offer *same = p->offer;

	for (size_t i = 0; i < p->offers; i++) {
		if (test && strcmp(p->offer[i].test->name, test) == 0)
			return &p->offer[i];
		if (!fault_is(&p->offer[i].refused) && fault_is(&same->refused))
			same = &p->offer[i];
	}
	return same;
}

/*
 * Check the experiment E of H, over this number of RAILS. Only a window of --prove differs from
 * what this end was told.
 */
static int check_experiment(const struct offer *o, struct hello *h, struct experiment *e,
			    size_t rails, struct fault *f)
{
	if ((!h->trial &&
	     experiment_check(&o->asked, e, h->decided, sizeof(h->decided), f)) ||
	    plan_check(e, f) || operation_check(o->test, e, f))
		return -1;
	return limits_check(&o->asked.local, o->test, e, rails, f);
}

/*
 * Read the list of sizes in M, each in place of the experiment's; memory is made for the largest.
 */
static int read_sizes(const struct offer *o, const json_t *m, struct hello *h, size_t rails,
		      struct fault *f)
{
	const json_t *sizes = json_object_get(m, "sizes"), *size;
	struct experiment other = h->experiment;
	size_t i, count = json_array_size(sizes);

	h->size[0] = other.size_bytes;
	h->sizes = sizes ? (unsigned)count : 1;
	if (!sizes)
		return 0;
	if (message_has(m, "sizes",
			count > 1 && count <= SWEEP_VALUES_MAX && !other.sweep && !other.verify,
			f) ||
	    message_numbers(m, "sizes", count, PLAN_SWEEP_LAST, f))
		return -1;
	json_array_foreach (sizes, i, size) {
		other.size_bytes = h->size[i] = (uint64_t)json_integer_value(size);
		if (message_has(m, "sizes", other.size_bytes, f) ||
		    check_experiment(o, h, &other, rails, f))
			return -1;
	}
	return 0;
}

int hello_read(const struct offer *o, const json_t *m, struct hello *h, struct fault *f)
{
	const json_t *list = json_object_get(m, "rails"), *from = json_object_get(m, "experiment");
	size_t rails = json_array_size(list);
	bool flag;

	*h = (struct hello){.experiment = o->test->defaults};
	if (!message_is(m, "hello"))
		return fault_raise(f, FAULT_PEER, 0, "the first message is not a hello");
	if (auth_refuse(m, f) || check_versions(m, f) || check_test(o, m, f) ||
	    message_flag(m, "gpu_memory", &flag, f) ||
	    message_flag(m, "default_depth", &h->default_depth, f) ||
	    message_flag(m, "trial", &h->trial, f) ||
	    message_has(m, "rails", rails - 1 < EXPERIMENT_DEVICES_MAX, f) ||
	    check_rails(list, f) || message_has(m, "experiment", json_is_object(from), f) ||
	    experiment_from_json(&h->experiment, from, o->asked.traits, f) ||
	    read_sizes(o, m, h, rails, f))
		return -1;
	return check_experiment(o, h, &h->experiment, rails, f);
}

static const char *const may_misfit[] = {"size", "rx-depth", "ib-dev", "gid-index", "pkey_index"};

void hello_write_given(const struct options *o, json_t *m)
{
	json_t *names = json_array();

	for (size_t i = 0; i < sizeof(may_misfit) / sizeof(may_misfit[0]); i++)
		if (options_given(o, may_misfit[i]))
			json_array_append_new(names, json_string(may_misfit[i]));
	json_add_parts(m, "given", names, 1);
}

void hello_read_given(struct options *o, const json_t *m)
{
	const json_t *names = json_object_get(m, "given"), *name;
	size_t at;

	json_array_foreach (names, at, name)
		for (size_t i = 0; i < sizeof(may_misfit) / sizeof(may_misfit[0]); i++)
			if (json_is_string(name) && !strcmp(json_string_value(name), may_misfit[i]))
				o->given[options_find(may_misfit[i]) - options_table()] = true;
}

void hello_write_sweep(const struct sweep *sweep, json_t *m)
{
	json_t *names = json_array();

	for (unsigned i = 0; i < sweep->axes; i++)
		if (sweep->axis[i].row->scope == SCOPE_EXPERIMENT)
			json_array_append_new(names, json_string(sweep->axis[i].row->name));
	json_add_parts(m, "varied", names, 1);
}

int hello_read_sweep(struct sweep *sweep, const json_t *m, struct fault *f)
{
	const json_t *names = json_object_get(m, "varied"), *name;
	size_t i;

	sweep->axes = 0;
	if (!names)
		return 0;
	if (message_has(m, "varied", json_array_size(names) - 1 < SWEEP_AXES_MAX, f))
		return -1;
	json_array_foreach (names, i, name) {
		const char *text = json_string_value(name);
		const struct option_row *row = text ? options_find(text) : NULL;

		if (message_has(m, "varied",
				row && row->scope == SCOPE_EXPERIMENT && sweep_is(row, ",") &&
					!sweep_axis(sweep, row),
				f))
			return -1;
		sweep->axis[sweep->axes++] = (struct sweep_axis){.row = row};
	}
	return 0;
}
