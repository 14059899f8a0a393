// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "finding/why.h"

#include <string.h>

static const struct {
	const char *cause, *fix;
} words[WHYS] = {
#define WHY(symbol, cause, fix) {cause, fix},
#include "finding/why.def"
#undef WHY
};

int why_explain(struct fault *f, enum why why, const struct finding_value *values)
{
	struct finding_facts facts = {.end = NULL};
	char text[sizeof(f->cause)];

	memcpy(facts.value, values, sizeof(facts.value));
	if (*finding_words(text, sizeof(text), words[why].cause, &facts))
		fault_cause(f, "%s", text);
	if (*finding_words(text, sizeof(text), words[why].fix, &facts))
		fault_fix(f, "%s", text);
	return -1;
}
