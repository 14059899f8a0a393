// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/phase.h"

#include <string.h>

#define ROW(symbol, stage, spoken, words) {words, STAGE_##stage, PHASE_##spoken},
static const struct phase_row phases[] = {PHASES(ROW)};

const struct phase_row *phase_row(enum phase phase)
{
	return &phases[phase];
}

enum phase phase_from(const char *words)
{
	for (int phase = 0; phase < PHASE_COUNT; phase++)
		if (strcmp(phases[phase].words, words) == 0)
			return (enum phase)phase;
	return PHASE_NONE;
}

const char *stage_word(enum stage stage)
{
	static const char *const words[STAGES] = {
		"other", "command_line", "device",  "resources", "connect",
		"agree", "connect_qps",  "measure", "judge",     "output",
	};

	return words[stage];
}
