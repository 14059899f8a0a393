/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * options: the option table. The parser, the help, the experiment's JSON form, its range checks and
 * the comparison of both ends all follow from it.
 *
 * A row is an option. Its scope: the client decides SCOPE_EXPERIMENT, SCOPE_LOCAL is for this end
 * only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/fault.h"
#include "cli/experiment.h"

enum option_kind {
	OPTION_FLAG,    /* uint64_t, 1 when given */
	OPTION_NUMBER,  /* uint64_t */
	OPTION_SIZE,    /* uint64_t bytes, with k m g */
	OPTION_SECONDS, /* uint64_t nanoseconds */
	OPTION_MICROSECONDS, /* uint64_t */
	OPTION_CHOICE,  /* uint64_t, index into the words of `value` */
	OPTION_RATE,    /* uint64_t, see base/rate.h */
	OPTION_TEXT,    /* const char * */
	OPTION_FILE,    /* const char *, the value is optional: "-" */
	OPTION_LIST,    /* struct option_list: one text, or several with commas between them */
	OPTION_NODE,    /* int64_t in a uint64_t: auto, none or a number */
	OPTION_INDEX,   /* uint64_t, the value is optional: `bare`; it may be a separate word */
	/* doubles, of a command that is no test (cli/command.h) */
	COMMAND_SECONDS,
	COMMAND_PERCENT,
	COMMAND_RATE, /* in Gb/s; more than 0 */
};

/* Properties of a test and of a run, which decide its options. */
enum option_trait {
	TRAIT_LATENCY = 1,
	TRAIT_BANDWIDTH = 2,
	TRAIT_RECEIVES = 4, /* the peer posts receives for messages, */
	TRAIT_WRITES = 8,   /* messages go to its memory, */
	TRAIT_READS = 16,   /* messages come from its memory, */
	TRAIT_ATOMICS = 32, /* messages change its memory */
	TRAIT_CELLS = 64,
	TRAIT_SCHEDULE = 128, /* of a run: gdr_bw without --plain, */
	TRAIT_CLIENT = 256, /* at the client, */
	TRAIT_IWARP = 512,  /* on such a device */
	TRAIT_EFA = 1024,
	TRAIT_REGISTERS = 2048, /* of a test that sends no messages: it registers memory */
	TRAIT_CONNECTS = 4096,  /* or it connects QPs */
	TRAIT_CALLS = TRAIT_REGISTERS | TRAIT_CONNECTS
};

enum option_scope {
	SCOPE_EXPERIMENT,
	SCOPE_LOCAL,
	SCOPE_ALIAS /* another name of an option; not in the help, which has the NAME or NAME=VALUE
		       that it stands for */
};

/* The section of --help=all; options_help.c has the headings. */
enum option_group {
	/* of the experiment */
	GROUP_RUN,
	GROUP_QUEUES,
	GROUP_PATH,
	GROUP_PACE,
	GROUP_BUFFERS,
	GROUP_GDR,
	/* of an end */
	GROUP_DEVICE,
	GROUP_MEMORY,
	GROUP_PEER,
	GROUP_SERVING,
	GROUP_OUTPUT,
	GROUP_REPEAT,
	GROUP_LIMITS,
	GROUP_INFO,
	GROUP_IGNORED,
	GROUPS
};

struct option_row {
	const char *name; /* long option */
	char letter;      /* 0: none */
	enum option_kind kind;
	enum option_scope scope;
	size_t field; /* offset in struct options */
	uint64_t min, max; /* max of a text: bytes; 0: any number */
	const char *value; /* name of the value in the help; the words of a choice, separated by
			      '|' */
	const char *help;  /* with the unit */
	const char *help_latency; /* of a latency test; NULL: the same */
	unsigned needs;           /* a test has it if it has all of these traits, */
	unsigned never;           /* and none of these */
	unsigned calls;       /* and a test of these TRAIT_CALLS has it only if it is named here */
	const char *help_calls; /* of such a test; NULL: the same */
	unsigned idle;        /* it is ignored, with a note, in tests and runs of this */
	const char *bare;     /* OPTION_INDEX: the value if none is given */
	bool own;             /* documents of other tests do not have it either */
	bool power_of_two;    /* so is a number */
	bool whole;           /* the name cannot be shortened */
	bool dealt;           /* several values do not make a sweep: the QPs have them in turn */
	bool counted;         /* N makes a sweep, 1 to N: the slowest axis */
	enum option_group group;
};

enum output_format {
	FORMAT_TABLE,
	FORMAT_PERFTEST
};
enum link_wanted {
	LINK_ANY,
	LINK_IB,
	LINK_ETHERNET
};
enum output_only {
	ONLY_ALL,
	ONLY_BANDWIDTH,
	ONLY_LATENCY,
	ONLY_MESSAGE_RATE
};

/* One or more texts, as typed, and the one that is used: the AT-th byte of LIST begins it. */
struct option_list {
	const char *list; /* NULL: none */
	uint64_t at;
};

/* Options for this end only. */
struct local_options {
	const char *host; /* NULL: server */
	const char *device;
	uint64_t ib_port; /* AUTO */
	uint64_t port;
	const char *source_ip; /* of the TCP connection; NULL: any */
	uint64_t ipv6_addr;    /* TCP over IPv6 only */
	uint64_t gid_index;    /* AUTO */
	uint64_t vector;       /* completion vector */
	uint64_t dscp;         /* if it is given, the experiment's tos is of it */
	uint64_t pkey_index;   /* AUTO: the peer's, else 0 */
	uint64_t dlid;         /* AUTO: the peer's */
	const char *mgid;      /* with -g: the server's group; NULL: the client's choice */
	uint64_t link;         /* enum link_wanted */
	uint64_t ipv6;         /* only GIDs with an IPv6 address */
	uint64_t numa;         /* PIN_AUTO, PIN_NONE or a node, as int64_t */
	uint64_t hugepages;
	uint64_t odp; /* 1: registered without being pinned */
	const char *mmap_file;
	uint64_t mmap_offset_bytes;
	struct option_list gpu; /* index, UUID or PCI address */
	uint64_t vendor_gpu; /* --use_cuda, --use_rocm: index among that vendor's */
	const char *cuda_bus_id;
	uint64_t cuda_dmabuf, cuda_pcie;
	uint64_t cuda_mem_type; /* perftest's number */
	uint64_t gpu_path; /* enum gpu_path */
	const char *auth; /* as typed: admit/auth.h; NULL: not given */
	uint64_t timeout_ns;
	uint64_t connect_timeout_ns;
	uint64_t ready_fd; /* AUTO: none */
	uint64_t persistent;
	uint64_t wait_ns; /* 0: forever */
	uint64_t wait_destroy_ns;
	const char *counters; /* names of the port's counters to report; NULL: none */
	uint64_t max_memory_bytes, max_duration_ns, max_qps; /* AUTO: no limit */
	uint64_t check, version;
	const char *help; /* "-": the usual options, "all" */
};

struct output_options {
	uint64_t gbits;
	uint64_t no_peak;
	uint64_t both_rows;
	uint64_t only;   /* enum output_only */
	uint64_t format; /* enum output_format */
	uint64_t explain; /* 1: what limits a run, after the table */
	uint64_t prove_s; /* 0: not */
	uint64_t quiet;
	uint64_t verbose;
	uint64_t interval_ns; /* 0: none */
	uint64_t cpu_util;
	uint64_t repeat;          /* runs of each size, or their maximum with the next option */
	const char *until_stable; /* percent, as typed: measure/repeat.h */
	uint64_t histogram;       /* -H */
	uint64_t histogram_only;  /* for the document */
	uint64_t unsorted;        /* -U */
	uint64_t out_json;        /* perftest's document */
	const char *out_json_file;
	const char *json; /* NULL none, "-" stdout */
	const char *json_lines; /* file; NULL none */
	const char *csv;
	const char *title; /* of the documents; NULL: none */
	uint64_t within_percent; /* for gdr_bw, as the next one */
	uint64_t expected_gbps;
	/* thresholds for a result, as typed: measure/gate.h; NULL: none */
	const char *min_bw, *max_lat, *min_msgrate, *max_loss;
	const char *limit_bw, *limit_msgrate; /* perftest's */
	uint64_t ignored;                     /* accepted flags without effect */
	uint64_t ignored_ns;                  /* accepted times without effect */
};

/* Options with several values: cli/sweep.h. */
#define SWEEP_AXES_MAX   8
#define SWEEP_VALUES_MAX 128
#define SWEEP_POINTS_MAX 1000

struct sweep_axis {
	const struct option_row *row;
	unsigned count; /* 0: only the client knows the values */
	uint64_t value[SWEEP_VALUES_MAX]; /* of a list: where each begins */
};

struct sweep {
	struct sweep_axis axis[SWEEP_AXES_MAX];
	unsigned axes;
};

#define OPTION_ROWS_MAX 256

#define OPTIONS_TIME_MAX_NS (UINT64_C(366) * 86400 * 1000000000) /* maximum of any time */

struct options {
	const char *test; /* the test whose command line it is */
	unsigned traits;  /* traits of that test; 0: any */
	bool drop_in;     /* the program was started under perftest's name */
	struct experiment experiment;
	struct local_options local;
	struct output_options output;
	struct sweep sweep;          /* options with several values; the experiment has the first
					ones */
	bool given[OPTION_ROWS_MAX]; /* given on the command line, by row of the table */
	bool lacks;                  /* one was given that the test does not have */
};

/* True if ROW sets MEMBER of struct options. */
#define OPTION_IS(row, member) ((row)->field == offsetof(struct options, member))

/* The table, ended by a row without a name. Static storage. */
const struct option_row *options_table(void);

/* The row of the long option NAME, or NULL. */
const struct option_row *options_find(const char *name);

/* True if the SIZE bytes at WORD begin NAME; - and _ are equal. */
bool options_begins(const char *name, const char *word, size_t size);

/* The row of ROWS that the SIZE bytes at WORD name, or that alone they begin, of those that can be
 * shortened; an alias and its option count as one. */
const struct option_row *options_match(const struct option_row *rows, const char *word,
				       size_t size);

/* The words of a command line that are still to be read. */
struct option_words {
	char **next;         /* ended by NULL */
	const char *letters; /* what is left of a word of several, "-ab"; NULL: nothing */
};

/*
 * Read the next of W if it is an option of ROWS, by its name, a beginning that only one has, or its
 * letter. *ROW is no alias; *VALUE is from the same word, or the next one if it needs one; NULL: it
 * has none. Returns 1; 0: it is no option, or none of ROWS, and W is as before; -1 with
 * FAULT_USAGE.
 */
int options_next(const struct option_row *rows, struct option_words *w,
		 const struct option_row **row, const char **value, struct fault *f);

/* The row that an alias names, or ROW. If the alias also sets a value, *VALUE becomes that. */
const struct option_row *options_resolve_alias(const struct option_row *row, const char **value);

/* True if a test of these TRAITS (0: any) has the option ROW. */
bool options_applies(const struct option_row *row, unsigned traits);

/* True if it also has an effect there; otherwise it is accepted for compatibility with perftest. */
bool options_has_effect(const struct option_row *row, unsigned traits);

/* Write the option's name for errors: "-s/--size" or "--iters". Returns BUF. */
const char *options_name(const struct option_row *row, char *buf, size_t size);

/* The field of ROW in O. Numeric kinds, and of a list which one is used. */
uint64_t *options_number(struct options *o, const struct option_row *row);

/* After parsing: set the unit of --rate_units in rates without a unit. */
void options_use_rate_units(struct options *o);

/* Initialize O with the common defaults and the experiment DEFAULTS. */
void options_init(struct options *o, const struct experiment *defaults);

/* True if the option of this long name was on the command line. */
bool options_given(const struct options *o, const char *name);

/*
 * Parse the command line ARGV, which NULL ends, as getopt_long does: the host at any position,
 * unique prefixes, bundled letters, the last of a repeated option. Raises FAULT_USAGE, or
 * FAULT_UNAVAILABLE for a transport or device class that rdmark does not support. Strings in O
 * point into ARGV.
 */
int options_parse(struct options *o, char **argv, struct fault *f);

/* Raise the fault that the test of O does not have ROW, with the reason and the fix. Returns -1. */
int options_refuse(struct options *o, const struct option_row *row, struct fault *f);

/*
 * Raise the fault that ROW needs a value; that TEXT of the command line, "--name" or letters, is no
 * option, with the names that may be meant, or what to do instead of perftest's. Return -1.
 */
int options_refuse_missing(const struct option_row *row, struct fault *f);
int options_refuse_unknown(const struct options *o, const char *text, struct fault *f);

/*
 * Set the fix to those of ROWS, of a test with TRAITS (0: any), that the SIZE bytes at WORD may be
 * meant for. Returns -1; 0: there are none.
 */
int options_suggest(const struct option_row *rows, unsigned traits, const char *word, size_t size,
		    struct fault *f);

/* What to do instead of an option of earlier versions, the SIZE bytes at NAME; NULL: it is none. */
const char *options_instead(const char *name, size_t size);

/* Refuse given options that a run of TRAIT_SCHEDULE or TRAIT_CLIENT does not have. */
int options_check(const struct options *o, unsigned run, struct fault *f);

/*
 * Refuse TEXT if it is empty; where ROW has a most of bytes, also if it is longer or no plain text.
 */
int options_check_text(const struct option_row *row, const char *text, struct fault *f);

/*
 * Store TEXT (NULL: none) as the value of ROW in the struct INTO, whose offset ROW has; of all
 * kinds but a command's doubles. Returns 0, or -1 with FAULT_USAGE.
 */
int options_store(const struct option_row *row, const char *text, void *into, struct fault *f);

/* Parse TEXT into *VALUE, in the range of ROW; numeric kinds only. Raises FAULT_USAGE. */
int options_parse_value(const struct option_row *row, const char *text, uint64_t *value,
			struct fault *f);

/* Raise that TEXT is no valid value of option NAME. The caller adds the fix. Returns -1. */
int options_invalid(const char *name, const char *text, struct fault *f);

/* True if V is in the range of ROW, which has a numeric kind. */
bool options_in_range(const struct option_row *row, uint64_t v);

/* Write VALUE of ROW for people: "64 KiB", rounded. Not for a parser. Returns BUF. */
const char *options_format_value(const struct option_row *row, uint64_t value, char *buf,
				 size_t size);

/* Print `--help`: usage, summary, and the usual options or ALL, with their DEFAULTS. */
void options_help(FILE *out, const char *program, const char *summary,
		  const struct options *defaults, bool all);

/* The same of `rdmark server`; DEFAULTS are of any test. */
void options_help_server(FILE *out, const struct options *defaults);

/* The same of --check, which is `rdmark check`. */
void options_help_check(FILE *out, const struct options *defaults);
