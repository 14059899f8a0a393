/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* verdict_facts: default facts for the tests of verdict. Include it after <cmocka.h>. */
#ifndef RDMARK_TESTS_UNIT_VERDICT_FACTS_H
#define RDMARK_TESTS_UNIT_VERDICT_FACTS_H

#include <string.h>

#include "../../gdr_bw/verdict.h"

#define NIC "0000:41:00.0"
#define GPU "0000:45:00.0"
#define GEN5                                                           \
	{                                                              \
		.gts = 32, .width = 16, .max_gts = 32, .max_width = 16 \
	}

static const struct gdr_cell gdr = {.from = GDR_DMABUF, .into = GDR_DMABUF};
static const struct gdr_cell reading = {.from = GDR_DMABUF}, writing = {.into = GDR_DMABUF};

/* A healthy pair behind one switch, 200 Gb/s. */
static inline struct verdict_facts healthy(void)
{
	struct verdict_facts x = {
		.within = 0.05,
		.gpudirect = true,
		.cell = &gdr,
		.gbps = 194,
		.host_gbps = 196,
		.line_gbps = 200,
		.verified = true,
		.route.relaxed_ordering = true,
		.route.path =
			{
				.class = PATH_PIX,
				.nic = GEN5,
				.gpu = GEN5,
				.iommu = "identity",
				.payload_bytes = 256,
				.ceiling_write_gbps = 460.9,
				.ceiling_read_gbps = 467.6,
			},
	};

	strcpy(x.route.path.nic.pci, NIC);
	strcpy(x.route.path.gpu.pci, GPU);
	return x;
}

/* The same at GBPS of 196. */
static inline struct verdict_facts slow(double gbps)
{
	struct verdict_facts x = healthy();

	x.gbps = gbps;
	return x;
}

/* The range of seven equal windows. */
static inline struct windows_range alike(double value)
{
	return (struct windows_range){value, value, value, 7};
}

static inline struct eval_cell stats(const struct verdict_facts *x)
{
	struct eval_cell c = {
		.ratio = alike(x->gbps / x->host_gbps),
		.gpu.gbps = alike(x->gbps),
		.host.gbps = alike(x->host_gbps),
	};

	eval_set_levels(&c, x->within);
	return c;
}

static inline struct verdict reach(const struct verdict_facts *facts)
{
	struct verdict_facts copy = *facts, *x = &copy;
	struct eval_cell c;
	struct verdict v;

	if (!x->stats && x->gbps > 0 && x->host_gbps > 0) {
		c = stats(x);
		x->stats = &c;
	}
	memset(&v, 0xa5, sizeof(v));
	verdict_reach(x, &v);
	assert_true(strlen(v.line) < sizeof(v.line) - 1 && strlen(v.next) < sizeof(v.next) - 1);
	assert_memory_equal(v.line, verdict_level_name(v.level),
			    strlen(verdict_level_name(v.level)));
	return v;
}

/* Remove the interval, which is trivial for equal windows. */
static inline void cut_interval(char *line)
{
	char *from = strstr(line, " (95 % interval: "), *to = from ? strchr(from, ')') : NULL;

	if (to)
		memmove(from, to + 1, strlen(to + 1) + 1);
}

static inline void expect(const struct verdict_facts *x, int exit_status, const char *cause,
			  const char *line, const char *next)
{
	struct verdict v = reach(x);

	cut_interval(v.line);
	assert_string_equal(v.line, line);
	assert_string_equal(v.next, next);
	assert_string_equal(v.cause, cause);
	assert_int_equal(v.exit_status, exit_status);
}

/* Check only the cause, the level, and a word of the advice. */
static inline void expect_cause(const struct verdict_facts *x, enum verdict_level level,
				const char *cause, const char *word)
{
	struct verdict v = reach(x);

	assert_string_equal(v.cause, cause);
	assert_int_equal(v.level, level);
	if (!strstr(v.line, word) && !strstr(v.next, word))
		fail_msg("no \"%s\" in: %s / %s", word, v.line, v.next);
}

/* RATIO of host memory's GBPS, plus or minus HALF of it; judged within 5 %. */
static inline struct eval_cell unsure(double gbps, double ratio, double half)
{
	struct eval_cell c = {
		.ratio = {ratio, ratio - half, ratio + half, 70},
		.gpu = {.gbps = {ratio * gbps, (ratio - half) * gbps, (ratio + half) * gbps, 70},
			.expected_gbps = 190,
			.expected_from = "line rate"},
		.host = {.gbps = {gbps, (1 - half) * gbps, (1 + half) * gbps, 71},
			 .expected_gbps = 190,
			 .expected_from = "line rate"},
	};

	eval_set_levels(&c, 0.05);
	return c;
}

static inline struct verdict_facts facts_of(const struct eval_cell *c)
{
	struct verdict_facts x = healthy();

	x.stats = c;
	x.gbps = c->gpu.gbps.mean;
	x.host_gbps = c->host.gbps.mean;
	return x;
}

#endif
