// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The command line: any words, one in each line of the input, and what follows from the result. */
#include "base/rate.h"
#include "cli/sweep.h"
#include "fuzz.h"
#include "cli/options.h"
#include "plan/plan.h"
#include "plan/test.h"

#define WORDS_MAX 64

/* As of a program that had all options. */
#define OF_GDR .windows = 7

static const struct experiment defaults[] = {
	{EXPERIMENT_DEFAULTS, .size_bytes = 2, .iters = 1000, .tx_depth = 1, OF_GDR},
	{EXPERIMENT_DEFAULTS, .size_bytes = 65536, .iters = 5000, .tx_depth = 128, OF_GDR},
};

static void check_fault(const struct fault *f)
{
	char line[2048];

	FUZZ_CHECK(f->code == FAULT_USAGE || f->code == FAULT_UNAVAILABLE);
	FUZZ_CHECK(f->call[0]);
	fault_format(f, line, sizeof(line));
	FUZZ_CHECK(!strchr(line, '\n') && !strchr(line, '\x1b'));
}

/* Every number is its row's default, or given and in range. */
static void check_numbers(const struct options *o)
{
	const struct option_row *table = options_table();
	char text[64];

	for (size_t i = 0; table[i].name; i++) {
		if (table[i].kind == OPTION_TEXT || table[i].kind == OPTION_FILE)
			continue;
		uint64_t v = *options_number((struct options *)(uintptr_t)o, &table[i]);

		FUZZ_CHECK(!o->given[i] || options_in_range(&table[i], v));
		options_format_value(&table[i], v, text, sizeof(text));
		FUZZ_CHECK(text[0]);
	}
}

/* What one end says of its experiment is what the other end understands. */
static void check_wire(const struct options *o)
{
	struct experiment there = defaults[0];
	struct fault f = {0};
	json_t *m = experiment_to_json(&o->experiment, 0),
	       *d = experiment_describe(&o->experiment, 0);

	for (uint64_t *at = (uint64_t *)&there; at < (uint64_t *)(&there + 1); at++)
		*at = EXPERIMENT_AUTO;
	FUZZ_CHECK(m && d && json_object_size(d) >= json_object_size(m));
	FUZZ_CHECK(experiment_from_json(&there, m, 0, &f) == 0);
	FUZZ_CHECK(memcmp(&there, &o->experiment, sizeof(there)) == 0);
	FUZZ_CHECK(experiment_check(o, &there, (char[512]){0}, 512, &f) == 0);
	json_decref(m);
	json_decref(d);
}

/* The numbers of each round, for every size, on a device whose CQs hold MAX_CQE. */
static void check_plan(const struct experiment *e, bool latency, uint64_t max_cqe)
{
	uint64_t last = plan_last_size(e, UINT64_C(1) << 31), list = e->post_list;
	uint64_t cqe = e->tx_depth * e->qps < max_cqe ? e->tx_depth * e->qps : max_cqe;
	uint64_t depth = e->tx_depth / list * list;
	const struct plan_qp qp = {.latency = latency,
				   .pingpong = latency,
				   .receives = true,
				   .max_cqe = 4194303,
				   .max_wr = 32768};
	struct fault f = {0};

	if (plan_check(e, &f)) {
		check_fault(&f);
		return;
	}
	for (uint64_t size = plan_first_size(e); size <= last; size *= 2) {
		unsigned mod = plan_cq_mod(e, size, (unsigned)cqe);

		FUZZ_CHECK(mod >= 1 && mod <= depth);
		FUZZ_CHECK(mod % list == 0 || list % mod == 0);
		FUZZ_CHECK((depth + mod - 1) / mod * e->qps <= cqe); /* no CQ overflows */
		FUZZ_CHECK(plan_warmup(e, size, latency) >= (e->warmup == EXPERIMENT_AUTO));
	}
	FUZZ_CHECK(plan_rx_depth(e, &qp) >= 1);
	FUZZ_CHECK(plan_tx_depth(e, &qp) >= 1);
}

/* Each word as the value of each option that has one. */
static void try_values(const char *text)
{
	const struct option_row *table = options_table();

	for (size_t i = 0; table[i].name; i++) {
		struct fault f = {0};
		uint64_t v = 4711;

		if (table[i].kind == OPTION_FLAG || table[i].kind == OPTION_TEXT ||
		    table[i].kind == OPTION_FILE || table[i].kind == OPTION_LIST)
			continue;
		if (options_parse_value(&table[i], text, &v, &f)) {
			check_fault(&f);
			FUZZ_CHECK(v == 4711);
		} else {
			FUZZ_CHECK(options_in_range(&table[i], v));
		}
	}
}

static void show_help(const struct options *o)
{
	size_t size;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		abort();
	options_help(out, "send_bw", "summary", o, o->local.help != NULL);
	fclose(out);
	FUZZ_CHECK(strstr(text, "--size"));
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	bool latency = fuzz_u8(&in) & 1;
	char *word[WORDS_MAX] = {strdup("send_bw")}, *argv[WORDS_MAX];
	struct fault f = {0};
	struct options o;
	int argc = 1;

	while (in.left && argc < WORDS_MAX - 1)
		word[argc++] = fuzz_text(&in, '\n');
	memcpy(argv, word, sizeof(argv)); /* getopt permutes it */
	options_init(&o, &defaults[!latency]);
	if (argc > 1)
		try_values(word[1 + size % (size_t)(argc - 1)]);
	if (options_parse(&o, argv, &f)) {
		check_fault(&f);
	} else {
		unsigned points = sweep_points(&o.sweep);

		FUZZ_CHECK(points >= 1 && points <= SWEEP_POINTS_MAX);
		for (unsigned i = 0; i < points; i += points / 4 + 1) {
			sweep_set(&o, i);
			check_numbers(&o);
			check_wire(&o);
			check_plan(&o.experiment, latency, o.experiment.qps + size * 50);
		}
		if (o.local.help)
			show_help(&o);
	}
	while (argc)
		free(word[--argc]);
	return 0;
}
