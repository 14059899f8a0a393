// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What `rdmark-pairs run` makes of a program's document, whole, cut or of any bytes, and of how the
 * program ended: the first byte says that.
 */
#include <math.h>

#include "../../pairs/run/outcome.h"
#include "fuzz.h"

#define ENDED(text) FUZZ_CHECK(strnlen(text, sizeof(text)) < sizeof(text))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	uint8_t how = fuzz_u8(&in);
	char *line = fuzz_text(&in, '\n');
	struct outcome o = {0};

	outcome_read(&o, (const char *)in.at, in.left, how & 1);
	outcome_ended(&o, how & 2 ? 9 : (how >> 2) << 8, line);
	FUZZ_CHECK(!o.has_value || (isfinite(o.value) && o.value > 0));
	FUZZ_CHECK(isfinite(o.p99) && o.p99 >= 0);
	FUZZ_CHECK(o.has_value || o.cause);
	FUZZ_CHECK(o.findings <= OUTCOME_FINDINGS);
	ENDED(o.error);
	ENDED(o.fix);
	for (unsigned i = 0; i < o.findings; i++) {
		ENDED(o.finding[i].id);
		ENDED(o.finding[i].text);
		FUZZ_CHECK(!strpbrk(o.finding[i].text, "\x1b\n"));
	}
	FUZZ_CHECK(!strpbrk(o.error, "\x1b\n"));
	free(line);
	return 0;
}
