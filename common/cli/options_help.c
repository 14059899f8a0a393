// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* options_help(): what --help prints, in 80 columns. */
#include "cli/options.h"

#include <string.h>

#include "base/terminal.h"
#include "base/text.h"

#define COLUMNS 80
#define LEFT \
	30 /* columns for an option; its help follows, on the next line if the option is longer */
#define INDENT (2 + LEFT + 1)

#define LISTS                                                                              \
	"The experiment's numbers can be lists and ranges: --threads 1,4 -n 1k:100k:x10\n" \
	"measures all combinations.\n"

/* The options that most people need; a program shows those of them that it has. */
static const char *const usual[] = {
	"size",          "all", "iters",  "duration", "qp",           "connection",
	"bidirectional", "gpu", "ib-dev", "verify",   "report_gbits", "json",
};

/* Print the line of ROW: letter, name, value, help and default, wrapped. */
static void help_row(FILE *out, const struct option_row *row, const struct options *defaults)
{
	char left[64] = "", value[32] = "", line[512], wrapped[1024] = "";
	bool latency = defaults->traits & TRAIT_LATENCY;
	char *words;

	text_add(left, sizeof(left), row->letter ? "-%c, " : "    ", row->letter);
	text_add(left, sizeof(left), "--%s", row->name);
	if (row->kind == OPTION_FILE || row->kind == OPTION_INDEX)
		text_add(left, sizeof(left), "[=<%s>]", row->value);
	else if (row->value)
		text_add(left, sizeof(left), "=<%s>", row->value);
	if (row->kind != OPTION_FLAG && row->kind != OPTION_TEXT && row->kind != OPTION_FILE) {
		uint64_t v = *options_number((struct options *)defaults, row);

		if (v)
			options_format_value(row, v, value, sizeof(value));
	}
	/* perftest writes <RC/UC/UD>, and scripts look for that. */
	for (words = left; defaults->drop_in && (words = strchr(words, '|'));)
		*words = '/';
	if (strlen(left) > LEFT) {
		fprintf(out, "  %s\n", left);
		left[0] = '\0';
	}
	snprintf(line, sizeof(line), "  %-*s %s", LEFT, left,
		 latency && row->help_latency                        ? row->help_latency
		 : defaults->traits & TRAIT_CALLS && row->help_calls ? row->help_calls
								     : row->help);
	if (value[0] && strcmp(value, "auto") != 0)
		text_add(line, sizeof(line), " (%s)", value);
	if (!options_has_effect(row, defaults->traits))
		text_add(line, sizeof(line), "; no effect in this test");
	terminal_wrap(wrapped, sizeof(wrapped), line, COLUMNS, INDENT);
	fputs(wrapped, out);
}

static const char *const titles[GROUPS] = {
	[GROUP_RUN] = "What to measure",
	[GROUP_QUEUES] = "Queue pairs and completions",
	[GROUP_PATH] = "Transport and path",
	[GROUP_PACE] = "Rate and pauses",
	[GROUP_BUFFERS] = "Message buffers",
	[GROUP_GDR] = "GPU memory compared with host memory",
	[GROUP_DEVICE] = "Device and port",
	[GROUP_MEMORY] = "CPU and memory",
	[GROUP_PEER] = "Connection to the peer",
	[GROUP_SERVING] = "Server",
	[GROUP_OUTPUT] = "Output",
	[GROUP_REPEAT] = "Repetition (client)",
	[GROUP_LIMITS] = "Thresholds (client): exit status 6 if one is missed",
	[GROUP_INFO] = "Information",
	[GROUP_IGNORED] = "Accepted for perftest's scripts, without effect",
};

/* True if help has ROW: under perftest's names scripts look for what is accepted, too. */
static bool is_shown(const struct option_row *row, const struct options *defaults)
{
	return row->scope != SCOPE_ALIAS &&
	       (defaults->drop_in ? options_applies(row, defaults->traits)
				  : options_has_effect(row, defaults->traits));
}

/* Print the other names of options. */
static void alias_rows(FILE *out, const struct options *defaults)
{
	fprintf(out, "\nOther names:\n");
	for (const struct option_row *row = options_table(); row->name; row++) {
		const char *value = NULL;
		struct option_row as = *options_resolve_alias(row, &value);
		char help[64];

		if (row->scope != SCOPE_ALIAS || !options_applies(&as, defaults->traits))
			continue;
		snprintf(help, sizeof(help), "same as --%s", row->help);
		as.help = as.help_latency = help;
		as.name = row->name;
		as.letter = row->letter;
		as.value = row->kind == OPTION_FLAG ? NULL : as.value;
		as.kind = row->kind;
		help_row(out, &as, defaults);
	}
}

/* Print the options of GROUP; the heading only if there are any. */
static void group_rows(FILE *out, enum option_group group, const struct options *defaults)
{
	const char *title = titles[group];

	for (const struct option_row *row = options_table(); row->name; row++)
		if (row->group == group && is_shown(row, defaults)) {
			if (title)
				fprintf(out, "\n%s:\n", title);
			title = NULL;
			help_row(out, row, defaults);
		}
}

/* The options of an end: of groups up to LAST. */
static void end_rows(FILE *out, const struct options *defaults, enum option_group last)
{
	bool alone = defaults->traits & TRAIT_REGISTERS;

	fprintf(out, "\n%s\n", alone ? "THIS HOST" : "THIS END: each end has its own");
	for (unsigned group = GROUP_DEVICE; group <= last; group++)
		group_rows(out, group, defaults);
}

/* Print all options of the program by groups, and the exit statuses. */
static void all_rows(FILE *out, const struct options *defaults)
{
	bool alone = defaults->traits & TRAIT_REGISTERS;

	fprintf(out, "\nTHE EXPERIMENT%s\n",
		alone ? "" : ": the client decides, the server adopts it");
	for (unsigned group = GROUP_RUN; group < GROUP_DEVICE; group++)
		group_rows(out, group, defaults);
	end_rows(out, defaults, GROUP_IGNORED);
	if (defaults->drop_in)
		alias_rows(out, defaults);
	fprintf(out,
		"\nThe exit status is\n"
		"  0  success; 1  a fault of this host; 2  wrong usage, or the ends do not fit\n"
		"  3  the peer failed or was stopped; 4  no peer answered in time\n"
		"  5  wrong data; 6  measured, but a threshold was missed\n"
		"  77  not available here; 128+N  ended by signal N\n");
}

static void usual_rows(FILE *out, const char *program, const struct options *defaults)
{
	/* gdr_bw runs a schedule unless it has --plain, which is not a usual option. */
	unsigned traits = defaults->traits | (defaults->traits & TRAIT_CELLS ? TRAIT_SCHEDULE : 0);

	fprintf(out, "\nCommon options:\n");
	for (const struct option_row *row = options_table(); row->name; row++)
		for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
			if (strcmp(row->name, usual[i]) == 0 && options_has_effect(row, traits))
				help_row(out, row, defaults);
	if (traits & TRAIT_REGISTERS)
		fprintf(out, "\nExample:\n  %s -s 4k:1g:x4 --json=run.json\n", program);
	else
		fprintf(out,
			"\nExamples, with `%s` running on the host node1:\n"
			"  %s node1\n"
			"  %s -D 10 --json=run.json node1\n",
			program, program, program);
	fprintf(out, "\nAll options: %s --help=all\n", program);
}

void options_help(FILE *out, const char *program, const char *summary,
		  const struct options *defaults, bool all)
{
	fprintf(out, "%s: %s\n\n", program, summary);
	if (defaults->traits & TRAIT_REGISTERS)
		fprintf(out, "  %s [OPTION...]          measure this host, without a peer\n",
			program);
	else
		fprintf(out,
			"  %s [OPTION...]          serve one client\n"
			"  %s [OPTION...] HOST     measure, with the server on HOST\n",
			program, program);
	if (all)
		all_rows(out, defaults);
	else
		usual_rows(out, program, defaults);
	fprintf(out,
		"\nSizes accept k, m and g (powers of 1024); times accept ms, s, m and h.\n"
		"%sSee %s(1) and rdmark(7).\n",
		defaults->traits & TRAIT_CELLS ? "" : LISTS, program);
}

void options_help_server(FILE *out, const struct options *defaults)
{
	fprintf(out, "usage: rdmark server [OPTION...]\n\n"
		     "Serve every test, one client after another, until a signal.\n");
	end_rows(out, defaults, GROUP_SERVING);
	fprintf(out,
		"\nThese, and --json and the like, are as in every test; so are options of the\n"
		"experiment, which clients then must not contradict: `rdmark write_bw --help=all`\n"
		"See rdmark(1).\n");
}

void options_help_check(FILE *out, const struct options *defaults)
{
	static const char *const own[] = {"ib-dev", "json", "json-lines", "title", "help"};

	fprintf(out,
		"usage: rdmark check [OPTION...]\n\n"
		"Say what is wrong with this host and its ports, as `write_bw --check` does.\n\n");
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		help_row(out, options_find(own[i]), defaults);
	fprintf(out, "      --self                     then also do what `rdmark self` does\n"
		     "\nThe exit status is 6 if there is a fault. See rdmark(1).\n");
}
