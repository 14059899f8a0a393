/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* verdict_facts: facts to start from, for the tests of verdict. After <cmocka.h>. */
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

/* A healthy pair behind one switch, 200 Gb/s. */
static inline struct verdict_facts healthy(void)
{
	struct verdict_facts x = {
		.within = 0.05,
		.gpudirect = true,
		.cell = VERDICT_GDR,
		.direction = "a -> b",
		.gbps = 194,
		.host_gbps = 196,
		.line_gbps = 200,
		.verified = true,
		.relaxed_ordering = true,
		.path =
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

	strcpy(x.path.nic.pci, NIC);
	strcpy(x.path.gpu.pci, GPU);
	return x;
}

/* The same at GBPS of 196. */
static inline struct verdict_facts slow(double gbps)
{
	struct verdict_facts x = healthy();

	x.gbps = gbps;
	return x;
}

static inline struct verdict reach(const struct verdict_facts *x)
{
	struct verdict v;

	memset(&v, 0xa5, sizeof(v));
	verdict_reach(x, &v);
	assert_true(strlen(v.line) < sizeof(v.line) - 1 && strlen(v.next) < sizeof(v.next) - 1);
	assert_memory_equal(v.line, verdict_level_name(v.level),
			    strlen(verdict_level_name(v.level)));
	return v;
}

static inline void expect(const struct verdict_facts *x, int exit_status, const char *cause,
			  const char *line, const char *next)
{
	struct verdict v = reach(x);

	assert_string_equal(v.line, line);
	assert_string_equal(v.next, next);
	assert_string_equal(v.cause, cause);
	assert_int_equal(v.exit_status, exit_status);
}

/* The cause and the exit status alone, and a word of the advice. */
static inline void expect_cause(const struct verdict_facts *x, enum verdict_level level,
				const char *cause, const char *word)
{
	struct verdict v = reach(x);

	assert_string_equal(v.cause, cause);
	assert_int_equal(v.level, level);
	if (!strstr(v.line, word) && !strstr(v.next, word))
		fail_msg("no \"%s\" in: %s / %s", word, v.line, v.next);
}

#endif
