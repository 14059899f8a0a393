// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/phase.h"

#include <string.h>

#define ROW(symbol, stage, spoken, words) {words, STAGE_##stage, PHASE_##spoken},
static const struct {
	const char *words;
	enum stage stage;
	bool spoken;
} phases[] = {PHASES(ROW)};

const char *phase_words(enum phase phase)
{
	return phases[phase].words;
}

enum phase phase_from(const char *words)
{
	for (int phase = 0; phase < PHASE_COUNT; phase++)
		if (strcmp(phases[phase].words, words) == 0)
			return (enum phase)phase;
	return PHASE_NONE;
}

bool phase_is_spoken(enum phase phase)
{
	return phases[phase].spoken;
}

enum stage phase_stage(enum phase phase)
{
	return phases[phase].stage;
}

const char *stage_word(enum stage stage)
{
	static const char *const words[STAGES] = {
		"other", "command_line", "device",  "resources", "connect",
		"agree", "connect_qps",  "measure", "judge",     "output",
	};

	return words[stage];
}
