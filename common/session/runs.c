// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a size's rows are judged by, and what its runs come to when they are over. */
#include "session/state.h"

void round_judge(struct session *s, const struct report_result *result)
{
	for (size_t i = 0; i < 2 && result->shown[i] && !s->report.about.server; i++)
		gates_judge(&s->gates, result->shown[i]->record,
			    report_direction_name(result->shown[i]->direction));
}

static void show_repeated(struct session *s)
{
	struct report_result result = repeat_median_result(&s->repeat);
	char text[256];

	round_judge(s, &result);
	report_shown(&s->report, &result);
	report_summary(&s->report, repeat_summary(&s->repeat),
		       repeat_text(&s->repeat, text, sizeof(text)));
}

void round_repeated(struct session *s)
{
	struct watch w;

	if (!s->repeat.count)
		return;
	session_alive_start(s, &w);
	show_repeated(s);
	session_alive_stop(s, &w);
	repeat_start(&s->repeat, 0);
}
