/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * options: the one table from which everything about the command line follows: the parser, the
 * help, the experiment's JSON form, its range checks, and the comparison of both ends.
 *
 * A row is an option. Its scope says whose it is: SCOPE_EXPERIMENT is the client's to decide,
 * SCOPE_LOCAL concerns this end only, SCOPE_OUTPUT how results are shown. SCOPE_ADVICE rows are
 * perftest's options that rdmark does not have; their help is what to use instead.
 */
#ifndef RDMARK_WIRE_OPTIONS_H
#define RDMARK_WIRE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/fault.h"
#include "verbs/gpu_route.h"
#include "wire/experiment.h"

enum option_kind {
	OPTION_FLAG,    /* uint64_t, 1 when given */
	OPTION_NUMBER,  /* uint64_t */
	OPTION_SIZE,    /* uint64_t bytes, with k m g */
	OPTION_SECONDS, /* uint64_t nanoseconds */
	OPTION_CHOICE,  /* uint64_t, index into the words of `value` */
	OPTION_RATE,    /* uint64_t, see base/rate.h */
	OPTION_TEXT,    /* const char * */
	OPTION_FILE,    /* const char *, value may be left out: "-" */
	OPTION_NODE,    /* int64_t in a uint64_t: auto, none or a number */
	OPTION_INDEX, /* uint64_t, value may be left out: 0; or follow as an argument of its own */
	OPTION_NONE,  /* advice: nothing is stored */
};

enum option_scope {
	SCOPE_EXPERIMENT,
	SCOPE_LOCAL,
	SCOPE_OUTPUT,
	SCOPE_ALIAS, /* another name of an option; not in the help: that is NAME or NAME=VALUE */
	SCOPE_ADVICE
};

struct option_row {
	const char *name; /* long option */
	char letter;      /* 0: none */
	enum option_kind kind;
	enum option_scope scope;
	size_t field; /* offset in struct options */
	uint64_t min, max;
	const char
		*value;   /* what stands for the value in the help; the words of a choice, by '|' */
	const char *help; /* with its unit; for advice: what to use instead */
	const char *only; /* the tests that have it, by '|'; NULL: all have */
};

enum output_format {
	FORMAT_TABLE,
	FORMAT_PERFTEST
};
enum link_wish {
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

/* This end's own affairs. */
struct local_options {
	const char *host; /* NULL: server */
	const char *device;
	uint64_t ib_port; /* AUTO */
	uint64_t port;
	const char *source_ip; /* of the TCP connection; NULL: any */
	uint64_t ipv6_addr;    /* TCP over IPv6 only */
	uint64_t gid_index;    /* AUTO */
	uint64_t vector;       /* completion vector */
	uint64_t pkey_index;   /* AUTO: the peer's, else 0 */
	uint64_t dlid;         /* AUTO: what the peer says */
	uint64_t link;         /* enum link_wish */
	uint64_t ipv6;         /* only GIDs with an IPv6 address */
	uint64_t comm_rdma_cm; /* 1: the out-of-band exchange goes over rdma_cm */
	uint64_t numa;         /* PIN_AUTO, PIN_NONE or a node, as int64_t */
	uint64_t hugepages;
	uint64_t odp; /* 1: registered without being pinned */
	const char *mmap_file;
	uint64_t mmap_offset_bytes;
	const char *gpu; /* index, UUID or PCI address; NULL */
	uint64_t cuda;   /* index; AUTO: not given */
	const char *cuda_bus_id;
	uint64_t cuda_dmabuf;
	uint64_t gpu_path; /* enum gpu_path */
	uint64_t timeout_ns;
	uint64_t connect_timeout_ns;
	uint64_t ready_fd; /* AUTO: none */
	uint64_t persistent;
	uint64_t wait_destroy_ns;
	const char *counters; /* which of the port's to watch; NULL: none */
	uint64_t max_memory_bytes, max_duration_ns, max_qps; /* AUTO: no limit */
	uint64_t list, help, version;
};

struct output_options {
	uint64_t gbits;
	uint64_t no_peak;
	uint64_t both_rows;
	uint64_t only;   /* enum output_only */
	uint64_t format; /* enum output_format */
	uint64_t quiet;
	uint64_t interval_ns; /* 0: none */
	uint64_t cpu_util;
	uint64_t repeat;          /* runs of each size, or the most with the next */
	const char *until_stable; /* percent, as it was typed: session/repeat.h */
	uint64_t histogram;       /* -H */
	uint64_t unsorted;        /* -U */
	uint64_t out_json;        /* perftest's document */
	const char *out_json_file;
	const char *json; /* NULL none, "-" stdout */
	const char *csv;
	uint64_t within_percent; /* gdr_bw */
	/* what a result must reach, as it was typed: session/gate.h; NULL: no matter */
	const char *min_bw, *max_lat, *min_msgrate;
	const char *limit_bw, *limit_msgrate; /* perftest's */
	uint64_t ignored;                     /* where accepted but needless flags go */
	uint64_t ignored_ns;                  /* and times */
};

#define OPTION_ROWS_MAX 256

struct options {
	const char *test; /* whose command line it is; NULL: any */
	struct experiment experiment;
	struct local_options local;
	struct output_options output;
	bool given[OPTION_ROWS_MAX]; /* by row of the table */
};

/* The table and its length. Static storage. */
const struct option_row *options_table(size_t *rows);

/* Row of option NAME (long), NULL if there is none. */
const struct option_row *options_find(const char *name);

/* True if TEST (NULL: any) has the option ROW. */
bool options_has(const struct option_row *row, const char *test);

/* The field of ROW in O: numeric kinds only. */
uint64_t *options_number(struct options *o, const struct option_row *row);

/* O with the defaults that no program changes and the experiment DEFAULTS. */
void options_init(struct options *o, const struct experiment *defaults);

/* True if the option of this long name stood on the command line. */
bool options_given(const struct options *o, const char *name);

/*
 * Parse a command line with getopt_long's habits: host anywhere, unique prefixes, bundled letters,
 * the last of a repeated option wins. Raises FAULT_USAGE (FAULT_UNAVAILABLE for a transport or
 * device class that rdmark does not do). Strings in O point into ARGV, which is permuted.
 */
int options_parse(struct options *o, int argc, char **argv, struct fault *f);

/*
 * Parse the value TEXT of ROW into *VALUE and check its range. Raises FAULT_USAGE that names the
 * option, what was given and what is possible. Numeric kinds only.
 */
int options_parse_value(const struct option_row *row, const char *text, uint64_t *value,
			struct fault *f);

/* True if V is a possible value of ROW, which stores a number. */
bool options_in_range(const struct option_row *row, uint64_t v);

/* VALUE of ROW as the user would type it. Returns BUF. */
const char *options_format_value(const struct option_row *row, uint64_t value, char *buf,
				 size_t size);

/* Print `--help`: usage, summary, every option with its default from DEFAULTS. */
void options_help(FILE *out, const char *program, const char *summary,
		  const struct options *defaults);

#endif
