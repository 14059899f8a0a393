// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Which options a test has. Refuses those that the test or the run does not have, that do not exist
 * or lack a value, and suggests what was meant.
 */
#include "cli/options.h"

#include <string.h>

#include "base/text.h"

#define NAMES_MAX  6 /* options in one hint */

/* Options of perftest that rdmark lacks, each with its letter after "=", and what to do instead. */
static const struct advice {
	const char *names, *text;
} advices[] = {
	{"connectionless", "omit it: with -g, the ends always talk over TCP"},
	{"dualport=O report-per-port", "run one pair of programs for each port"},
	{"report-cycles=C", "use --json, which gives latencies in microseconds, unrounded"},
	{"use_neuron use_hl use_mlu use_opencl "
	 "use_neuron_dmabuf use_mlu_dmabuf use_supa opencl_platform_id use_musa use_musa_bus_id "
	 "use_musa_dmabuf use_musa_pcie_mapping use_ib_dm_dmabuf use_sys_dmabuf",
	 "use host memory, or a GPU that `rdmark list` shows (--gpu)"},
	{"use-null-mr payload_file_path use_ooo no_ddp no_enhanced_reorder unsolicited_write aes_xts "
	 "encrypt_on_tx sig_before aes_block_size kek_path credentials_path data_enc_keys_number "
	 "data_enc_key_app_path log_dci_streams log_active_dci_streams sig_offload gpu_touch "
	 "tph_mem ph cpu_id",
	 "use perftest for that, or omit it"},
	{"inline_recv",
	 "omit it: libibverbs has no inline receive; mlx5 uses it by default (MLX5_SCATTER_TO_CQE)"},
	{"no_lock",
	 "omit it: threads wait for no lock of each other, since each has its own thread domain"},
	{"cycle_buffer", "omit it: rdmark always cycles small messages through a page"},
	{"flows flows_burst", "use --qp: every QP is a flow"},
	{"pin_cores", "use --numa or taskset(1)"},
	{"congest_type", "set congestion control on the device"},
	{"data_validation_debug", "use --verify, which shows the first wrong byte"},
	{"cqe_poll", "omit it: rdmark polls up to 16 completions at a time"},
	{"source_mac=B dest_mac=E local_mac remote_mac dest_ip=J local_ip remote_ip "
	 "dest_port=K source_port=k local_port remote_port ethertype=Y use_rss=G "
	 "mac_fwd vlan_en vlan_pcp promiscuous sniffer reply_every tcp raw_ipv6 "
	 "raw_mcast",
	 "use perftest's raw_ethernet programs"},
	{"server=Z", "omit it: without a host, the program is the server"},
	{"client=P", "omit it: with a host, the program is the client"},
};

/* Options of earlier versions, and what to do instead. */
static const struct advice removed[] = {
	{"staged-chunk staged-slots",
	 "omit it: the cells `staged` copy 1 MiB at a time, in 8 slots"},
	{"load load-size", "run write_bw at the same time, between the same ports"},
	{"extra-windows", "omit it: while the verdict is open, up to seven times --windows follow"},
	{"allow", "use --auth=key:FILE: who can read the key file is let in"},
	{"list", "use `rdmark list`, which also lists GPUs"},
	{"anyway", "measure both options in one run: write_bw -t 16,64"},
	{"tests", "name a test: rdmark read_bw HOST"},
	{"logfile", "use 2>>FILE"},
	{"pidfile", "use $! of the shell, --ready-fd, or a unit of systemd"},
	{"confidence", "use --until-stable=PERCENT, or read the ± of a row, which is of 95 %"},
	{"strict", "look with jq '.results[].quality.disturbed' in the document of --json"},
	{"only retest", "judge --plan FILE plans what to measure next, and run --plan FILE does that"},
	{"retest-for", "use --test-for"},
	{"prom", "run rdmark-prom FILE -o OUT: FILE is of --json, --json-lines or rdmark-pairs"},
};

const char *options_instead(const char *name, size_t size)
{
	for (size_t i = 0; i < sizeof(removed) / sizeof(removed[0]); i++) {
		const char *names = removed[i].names, *one;
		size_t n;

		while ((one = text_word(&names, ' ', &n)))
			if (n == size && options_begins(one, name, size))
				return removed[i].text;
	}
	return NULL;
}

bool options_applies(const struct option_row *row, unsigned traits)
{
	if (traits & TRAIT_CALLS)
		return row->calls & traits;
	return !traits || ((traits & row->needs) == row->needs && !(traits & row->never));
}

bool options_has_effect(const struct option_row *row, unsigned traits)
{
	return options_applies(row, traits) && !(row->idle & traits);
}

int options_refuse(struct options *o, const struct option_row *row, struct fault *f)
{
	unsigned missing = o->traits & TRAIT_CALLS ? 0 : row->needs & ~o->traits;
	char name[64];

	o->lacks = true;
	fault_raise(f, FAULT_USAGE, 0, "%s cannot be used in %s%s",
		    options_name(row, name, sizeof(name)), o->test,
		    missing & TRAIT_BANDWIDTH ? ", a latency test"
		    : missing & TRAIT_LATENCY ? ", a bandwidth test"
					      : "");
	return fault_fix(f, "omit it, or use another test; %s --help=all shows what this one has",
			 o->test);
}

int options_check(const struct options *o, unsigned run, struct fault *f)
{
	for (const struct option_row *row = options_table(); row->name; row++) {
		unsigned why = o->given[row - options_table()] ? row->never & run : 0;

		if (!why)
			continue;
		if (why & TRAIT_CLIENT)
			return fault_usage(f,
					   "give it to the server, which is started without a host",
					   "--%s cannot be used in a client", row->name);
		return fault_usage(f, "add --plain for a single row, or omit it",
				   "--%s cannot be used without --plain", row->name);
	}
	return 0;
}

int options_refuse_missing(const struct option_row *row, struct fault *f)
{
	char name[64];

	fault_raise(f, FAULT_USAGE, 0, "%s needs a value", options_name(row, name, sizeof(name)));
	return fault_fix(f, "give --%s=%s", row->name, row->value);
}

/*
 * If an option of perftest that rdmark lacks has LETTER, or a name that begins with the SIZE bytes
 * at WORD (WHOLE: that is they), raise that. Returns false if there is none.
 */
static bool refuse_perftest(char letter, const char *word, size_t size, bool whole, struct fault *f)
{
	for (size_t i = 0; i < sizeof(advices) / sizeof(advices[0]); i++) {
		const char *names = advices[i].names, *name;
		size_t n;

		while ((name = text_word(&names, ' ', &n))) {
			n = strcspn(name, " =");
			char own = name[n] == '=' ? name[n + 1] : '\0';

			if (letter ? own == letter
				   : n >= size && (n == size || !whole) &&
					     options_begins(name, word, size)) {
				fault_usage(f, advices[i].text,
					    "perftest's option %s%.1s%s--%.*s is not supported",
					    own ? "-" : "", &own, own ? "/" : "", (int)n, name);
				return true;
			}
		}
	}
	return false;
}

/* The first SIZE characters of WORD are a whole part of NAME: depth of tx-depth. */
static bool is_part(const char *name, const char *word, size_t size)
{
	for (const char *c = name; *c; c++)
		if (c > name && strchr("-_", c[-1]) && options_begins(c, word, size) &&
		    (!c[size] || strchr("-_", c[size])))
			return true;
	return false;
}

/* Names of options for a hint. */
struct names {
	char text[NAMES_MAX * (TEXT_WORD_MAX + 4)]; /* "--a, --b" */
	unsigned count;
};

/*
 * List the options of ROWS that a test of TRAITS has and help shows, at edit distance DISTANCE from
 * WORD; 0: those that begin with it, and aliases whose own option does not; 1: also those that
 * contain WORD as a whole part (depth: tx-depth). Returns how many.
 */
static unsigned list_near(const struct option_row *rows, unsigned traits, const char *word,
			  size_t size, unsigned distance, struct names *names)
{
	const char *ignored;

	for (const struct option_row *row = rows; row->name; row++) {
		const struct option_row *own = options_resolve_alias(row, &ignored);
		bool near =
			distance ? own == row && text_distance(row->name, word, size) == distance
				 : options_begins(row->name, word, size) &&
					   (own == row || !options_begins(own->name, word, size));

		near |= distance == 1 && own == row && is_part(row->name, word, size);
		if (near && row->help && options_has_effect(own, traits) && names->count < NAMES_MAX)
			text_add(names->text, sizeof(names->text), "%s--%s",
				 names->count++ ? ", " : "", row->name);
	}
	return names->count;
}

int options_suggest(const struct option_row *rows, unsigned traits, const char *word, size_t size,
		    struct fault *f)
{
	struct names names = {0};

	for (unsigned d = !size; d <= TEXT_NEAR(size); d++)
		if (list_near(rows, traits, word, size, d, &names))
			return fault_fix(f, "did you mean %s?", names.text);
	return 0;
}

int options_refuse_unknown(const struct options *o, const char *text, struct fault *f)
{
	const char *word = text + strspn(text, "-");
	size_t size = strcspn(word, "=");
	struct names names = {0};
	bool begins = false, ambiguous = false;

	if (word - text < 2 || !word[0]) { /* letters; behind others it may be a dash */
		char letter = text[1];

		return letter != '-' && refuse_perftest(letter, NULL, 0, false, f)
			       ? -1
			       : fault_usage(f, "see --help=all", "unknown option -%c", letter);
	}
	for (const struct option_row *row = options_table(); row->name; row++)
		if (size && options_begins(row->name, word, size)) {
			begins = true;
			ambiguous |= !row->whole;
		}
	if (options_instead(word, size))
		return fault_usage(f, options_instead(word, size), "unknown option %.60s", text);
	if (size && refuse_perftest('\0', word, size, begins, f))
		return -1;
	if (ambiguous && list_near(options_table(), o->traits, word, size, 0, &names)) {
		fault_raise(f, FAULT_USAGE, 0, "option %.60s is ambiguous", text);
		return fault_fix(f, "give one of %s", names.text);
	}
	fault_raise(f, FAULT_USAGE, 0, "unknown option %.60s", text);
	if (options_suggest(options_table(), o->traits, word, size, f))
		return -1;
	return fault_fix(f, "see --help=all");
}
