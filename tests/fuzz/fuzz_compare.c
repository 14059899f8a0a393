// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What `rdmark compare` makes of any two files: the lines of the input that begin with '>' are the
 * second one, the others the first; a first line "j" asks for JSON, "jw" for a gate too.
 */
#include "../../rdmark/rdmark.h"
#include "fuzz.h"

static char folder[64], file[2][80];

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *in = getenv("TMPDIR");

	(void)argc;
	(void)argv;
	snprintf(folder, sizeof(folder), "%.40s/compare-XXXXXX", in ? in : "/tmp");
	if (!mkdtemp(folder))
		return -1;
	snprintf(file[0], sizeof(file[0]), "%s/a", folder);
	snprintf(file[1], sizeof(file[1]), "%s/b", folder);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	char *how = fuzz_text(&in, '\n'), *line;
	char *words[] = {"rdmark", "compare", file[0], file[1],
			 how[0] == 'j' ? "--json" : "--within=5", how[0] && how[1] ? "--within=5" : NULL, NULL};
	FILE *to[] = {fopen(file[0], "w"), fopen(file[1], "w")};
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
	status = compare_command(words);
	FUZZ_CHECK(status == 0 || status == 2 || status == 6 || status == 77);
	free(how);
	return 0;
}
