/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stage: how far a program came before it failed, as a word for other programs. The phase of a
 * fault is for people; each phase belongs to one stage.
 */
#pragma once

enum stage {
	STAGE_OTHER,        /* none of these: a program that starts others, reads files, … */
	STAGE_COMMAND_LINE, /* what was asked for */
	STAGE_DEVICE,       /* this host's devices: found, chosen, opened */
	STAGE_RESOURCES,    /* memory, threads and QPs of this host */
	STAGE_CONNECT,      /* the peer is reached, and is who it should be */
	STAGE_AGREE,        /* both ends agree on what to measure */
	STAGE_CONNECT_QPS,  /* the QPs are connected */
	STAGE_MEASURE,      /* messages go from end to end */
	STAGE_JUDGE,        /* what was measured is compared with what was expected */
	STAGE_OUTPUT,       /* results are written */
	STAGES
};

#define PHASE_THRESHOLDS "judging the results" /* by --min-bw and the like */

/* The stage of a phase, as given to fault_phase(). */
enum stage stage_of(const char *phase);

/* Its word: "command_line", "device", … Static storage. */
const char *stage_word(enum stage stage);
