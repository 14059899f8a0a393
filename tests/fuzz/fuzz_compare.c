// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What `rdmark compare` makes of any two files: the lines of the input that begin with '>' are the
 * second one, the others the first; a first line "j" asks for JSON.
 */
#include <unistd.h>

#include "../../rdmark/rdmark.h"
#include "fuzz.h"

static char folder[64];

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *in = getenv("TMPDIR");

	(void)argc;
	(void)argv;
	snprintf(folder, sizeof(folder), "%.40s/compare-XXXXXX", in ? in : "/tmp");
	return !mkdtemp(folder) || chdir(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	char *how = fuzz_text(&in, '\n'), *line;
	char *words[] = {"a", "b", how[0] == 'j' ? "--json" : "--anyway", "--within", "5", NULL};
	FILE *to[] = {fopen("a", "w"), fopen("b", "w")};
	int status;

	if (!to[0] || !to[1])
		abort();
	while (in.left) {
		line = fuzz_text(&in, '\n');
		fprintf(to[*line == '>'], "%s\n", line + (*line == '>'));
		free(line);
	}
	fclose(to[0]);
	fclose(to[1]);
	words[3] = how[0] && how[1] ? words[3] : NULL;
	status = compare_command(words);
	FUZZ_CHECK(status == 0 || status == 2 || status == 6 || status == 77);
	free(how);
	return 0;
}
