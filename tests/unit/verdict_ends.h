/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verdict_ends: two ends with a healthy GPU each, whose facts a test spoils, and the verdict that
 * it expects then. Include it after <cmocka.h>.
 */
#pragma once

#include <string.h>

#include "gdr_windows.h"

#define NIC "0000:41:00.0"
#define GPU "0000:45:00.0"
#define GEN5                                                           \
	{                                                              \
		.gts = 32, .width = 16, .max_gts = 32, .max_width = 16 \
	}

static struct made m;
static struct gdr_side end[2];
static struct verdict_facts x;
static struct verdict v;

/* GPUs behind one switch at both ends, 200 Gb/s; GPU memory at GBPS of 196. */
static void ends(double gbps)
{
	made_results(&m, 7, 196, gbps, 0);
	for (unsigned i = 0; i < 2; i++) {
		end[i] = (struct gdr_side){
			.gpu = true,
			.direct = true,
			.relaxed_ordering = true,
			.path = {.class = PATH_PIX,
				 .nic = GEN5,
				 .gpu = GEN5,
				 .iommu = "identity",
				 .payload_bytes = 256,
				 .ceiling_write_gbps = 460.9,
				 .ceiling_read_gbps = 467.6},
		};
		strcpy(end[i].path.nic.pci, NIC);
		strcpy(end[i].path.gpu.pci, GPU);
	}
	x = (struct verdict_facts){.attr = &m.attr, .side = {&end[0], &end[1]}, .line_gbps = 200};
}

static void reach(void)
{
	memset(&v, 0xa5, sizeof(v));
	verdict_reach(&x, &v);
	assert_true(strlen(v.line) < sizeof(v.line) && strlen(v.next) < sizeof(v.next));
	assert_memory_equal(v.line, verdict_level_name(v.level),
			    strlen(verdict_level_name(v.level)));
}

/* The verdict has that level, status and cause, and WORD in its line or in what is next. */
static void expect(enum verdict_level level, int exit_status, const char *cause, const char *word)
{
	reach();
	if (v.level != level || v.exit_status != exit_status ||
	    strcmp(finding_name(v.cause), cause) != 0 ||
	    (!strstr(v.line, word) && !strstr(v.next, word)))
		fail_msg("want %d, %d, %s, \"%s\": %d, %d, %s: %s / %s", level, exit_status, cause,
			 word, v.level, v.exit_status, finding_name(v.cause), v.line, v.next);
}
