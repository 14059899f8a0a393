// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads the command line, and derives from it what is known before anything is opened. */
#include "session/program.h"

#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "cli/sweep.h"
#include "plan/limits.h"

/* How long a server of a script waits for a client. */
#define UNSEEN_WAIT_NS (600 * UNITS_NS_PER_S)

static const struct idle {
	const char *given, *other;
	bool with; /* it is idle where the other one is given too, or where it is not */
	const char *why, *unless; /* nor is it idle with this one; NULL: none */
} idle[] = {
	{"iters", "duration", true, "-n/--iters is ignored: -D/--duration ends the run"},
	{"iters", "run_infinitely", true, "-n/--iters is ignored: only a signal ends --run_infinitely"},
	{"share", "threads", false, "--share is ignored without --threads"},
	{"size", "all", true, "-s/--size is ignored: -a/--all measures all sizes"},
	{"burst_size", "rate_limit", false, "--burst_size is ignored without --rate_limit"},
	{"rate_units", "rate_limit", false, "--rate_units is ignored without --rate_limit"},
	{"histogram", "json", false, "--histogram is ignored without --json", "json-lines"},
	{"MGID", "mcg", false, "-M/--MGID has no effect unless the client has -g/--mcg"},
	{"report-both", "bidirectional", false,
	 "--report-both is ignored without -b/--bidirectional"},
};

/* The next given option without effect after AT (NULL: the first); NULL: there are no more. */
static const struct idle *next_idle(const struct options *o, const struct idle *at)
{
	for (at = at ? at + 1 : idle; at < idle + sizeof(idle) / sizeof(idle[0]); at++)
		if (options_given(o, at->given) && options_given(o, at->other) == at->with &&
		    !(at->unless && options_given(o, at->unless)))
			return at;
	return NULL;
}

void command_line_ignored(const struct program *p, unsigned traits)
{
	char name[64];

	for (const struct option_row *row = options_table(); row->name; row++) {
		unsigned here = row->idle & traits;

		if (p->options.given[row - options_table()] && here)
			report_note(&p->report, "%s is ignored %s",
				    options_name(row, name, sizeof(name)),
				    here & TRAIT_CLIENT  ? "in a client"
				    : here & TRAIT_IWARP ? "on iWARP: TCP controls this"
				    : here & TRAIT_EFA   ? "on an EFA, which controls this"
							 : "in a latency test");
	}
}

void command_line_notes(const struct program *p)
{
	command_line_ignored(p, p->options.traits | (p->server ? 0 : TRAIT_CLIENT));
	for (const struct idle *i = NULL; (i = next_idle(&p->options, i));)
		if (options_has_effect(options_find(i->given), p->options.traits))
			report_note(&p->report, "%s", i->why);
}

static int check_sweep(const struct program *p, struct fault *f)
{
	const struct options *o = &p->asked;
	const struct experiment *e = &o->experiment;
	const struct sweep_axis *gpus = sweep_axis(&o->sweep, options_find("gpu"));
	const struct sweep_axis *first = &o->sweep.axis[0];
	char name[64];

	if (o->output.prove_s && (o->sweep.axes || e->sweep || e->run_infinitely))
		return fault_usage(f, "give one size and one value of each option, and a run that ends",
				   "--prove runs one row again, and there are several");
	if (!o->sweep.axes)
		return 0;
	for (const struct idle *i = NULL; (i = next_idle(o, i));)
		if (sweep_axis(&o->sweep, options_find(i->given))) {
			fault_raise(f, FAULT_USAGE, 0,
				    "several values of --%s cannot be used %s --%s", i->given,
				    i->with ? "with" : "without", i->other);
			fault_cause(f, "%s", i->why);
			if (i->with)
				return fault_fix(f, "omit --%s", i->given);
			return fault_fix(f, "omit --%s, or add --%s", i->given, i->other);
		}
	first += first == gpus && o->sweep.axes > 1;
	options_name(first->row, name, sizeof(name));
	if (p->server && gpus)
		return fault_usage(f, "give several GPUs to the client, which measures one after another",
				   "a server uses one GPU");
	if (p->test->schedule && !o->experiment.plain && first != gpus)
		return fault_usage(f, "give one value, or add --plain for one row per value",
				   "several values of %s cannot be used without --plain", name);
	if (o->experiment.run_infinitely)
		return fault_usage(
			f, "give one value: the run with the first value would never end",
			"several values of %s cannot be used with --run_infinitely", name);
	if (o->output.format != FORMAT_PERFTEST && !o->output.out_json && !o->output.out_json_file)
		return 0;
	return fault_usage(
		f,
		"give one value, or use rdmark's table, --json or --csv: perftest's formats do "
		"not show the varied option",
		"several values of %s cannot be used in perftest's format", name);
}

/* Refuse --max-loss if messages cannot be lost, or are not counted. */
static int check_loss(const struct program *p, struct fault *f)
{
	const struct experiment *e = &p->options.experiment;
	bool reliable = !experiment_loses(e);

	if (!p->options.output.max_loss || p->server ||
	    (!reliable &&
	     (p->test->latency || test_receives(p->test) || e->write_with_imm)))
		return 0;
	fault_raise(f, FAULT_USAGE, 0, "--max-loss cannot be used with %s",
		    reliable ? "transport RC, which loses no messages"
			     : "RDMA WRITE: the receiver does not count the messages");
	return fault_fix(f, reliable ? "omit it, or use -c UC or -c UD"
				     : "add --write_with_imm, or use send_bw");
}

struct options command_line_options(const struct program *p, unsigned point)
{
	struct options o = p->asked;

	sweep_set(&o, point);
	if (!p->test->latency && !p->test->kinds && !options_given(&o, "tx-depth"))
		o.experiment.tx_depth = plan_default_depth(&o.experiment);
	return o;
}

int command_line_point(struct program *p, unsigned point)
{
	struct options *o = &p->options;
	char at[sizeof(p->fault.at)];

	*o = command_line_options(p, point);
	p->point = point;
	if (plan_check(&o->experiment, &p->fault) == 0 &&
	    operation_check(p->test, &o->experiment, &p->fault) == 0 &&
	    check_loss(p, &p->fault) == 0)
		return 0;
	fault_set_point(&p->fault, sweep_point(o, at, sizeof(at)));
	return -1;
}

/* Options that exclude each other, whatever their values are. */
static const struct clash {
	const char *one, *other, *cause, *fix; /* cause NULL: none */
} clashes[] = {
	{"check", "csv", NULL, "omit it: --check looks at this host only, and has --json"},
	{"mmap", "persistent",
	 "Clients could read what is in the file, and what other clients wrote",
	 "start a server for one client, without --persistent"},
};

/* Refuse what cannot be combined, and what --help and --check do not know. */
static int check_combined(struct program *p)
{
	const struct local_options *l = &p->options.local;
	struct fault *f = &p->fault;

	if (l->help && strcmp(l->help, "all") != 0 && strcmp(l->help, "-") != 0) {
		options_invalid("--help", l->help, f);
		return fault_fix(f, "use --help, or --help=all for all options");
	}
	for (size_t i = 0; i < sizeof(clashes) / sizeof(clashes[0]); i++) {
		const struct clash *c = &clashes[i];

		if (!options_given(&p->options, c->one) || !options_given(&p->options, c->other))
			continue;
		fault_raise(f, FAULT_USAGE, 0, "--%s cannot be used with --%s", c->one, c->other);
		if (c->cause)
			fault_cause(f, "%s", c->cause);
		return fault_fix(f, "%s", c->fix);
	}
	if (l->host && p->test->calls & TRAIT_REGISTERS)
		return fault_usage(f, "omit it; name a device with -d", "%s has no peer, and '%.100s' is no option",
				   p->test->name, l->host);
	if (l->check && !p->server)
		return fault_usage(f, "omit it; run the check on that host, too",
				   "a check looks at this host only, and '%.100s' is no option", l->host);
	return 0;
}

/* A server gives a file only to clients that the user has said may have it. */
static int check_file(struct program *p)
{
	const struct local_options *l = &p->options.local;

	if (!p->server || !l->mmap_file || l->auth || l->help)
		return 0;
	fault_raise(&p->fault, FAULT_USAGE, 0, "--mmap in a server needs --auth");
	fault_cause(&p->fault, "Everybody on the network could read and change the file");
	return fault_fix(&p->fault, "say who may: --auth=key:FILE, or --auth=none for everybody");
}

/* What perftest's names, and a run without an end, mean for the output. */
static void adjust_output(struct program *p)
{
	struct output_options *o = &p->options.output;
	const struct experiment *e = &p->options.experiment;

	p->options.drop_in = strncmp(p->name, "ib_", 3) == 0;
	if (p->options.drop_in && !options_given(&p->options, "format"))
		o->format = FORMAT_PERFTEST;
	/* Rows during a run without an end; perftest prints one every five seconds. */
	if (e->run_infinitely && !o->interval_ns)
		o->interval_ns = e->duration_ns ? e->duration_ns : 5 * UNITS_NS_PER_S;
	/* There the banner is on stdout, and what is on stderr gets mixed into it by 2>&1. */
	if (o->format == FORMAT_PERFTEST)
		o->quiet = 1;
}

int command_line_read(struct program *p)
{
	struct output_options *o = &p->options.output;

	options_init(&p->options, &p->test->defaults);
	p->options.test = p->test->name;
	p->options.traits = operation_traits(p->test);
	if (options_parse(&p->options, p->argv, &p->fault))
		return -1;
	p->server = p->options.local.host == NULL && !(p->test->calls & TRAIT_REGISTERS);
	if (check_combined(p) || report_check_counters(p->options.local.counters, &p->fault) ||
	    auth_read(&p->auth, p->options.local.auth, &p->fault))
		return -1;
	adjust_output(p);
	if (repeat_read(&p->repeat, &p->options, p->test->latency, &p->fault))
		return -1;
	if ((o->histogram || o->unsorted) && !measure_keeps_samples(&p->options, &p->repeat) &&
	    !o->json && !o->json_lines)
		return fault_usage(&p->fault, "use -n, or --json --histogram",
				   "-H and -U need every sample, but %s does not keep them",
				   p->repeat.most ? "--repeat" : "-D");
	if (!p->server && !p->options.local.port)
		return fault_usage(
			&p->fault,
			"give the port that the server printed; port 0 is only for a server",
			"-p/--port 0 cannot be used in a client");
	if (!p->server && options_check(&p->options, TRAIT_CLIENT, &p->fault))
		return -1;
	if (o->only == (p->test->latency ? ONLY_BANDWIDTH : ONLY_LATENCY)) {
		fault_raise(&p->fault, FAULT_USAGE, 0,
			    "--output=%s cannot be used in %s, a %s test",
			    p->test->latency ? "bandwidth" : "latency", p->test->name,
			    p->test->latency ? "latency" : "bandwidth");
		return fault_fix(&p->fault, "use --output=%s or --output=message_rate",
				 p->test->latency ? "latency" : "bandwidth");
	}
	if (endpoint_gpu_check(&p->options, p->test, &p->fault) ||
	    gates_read(&p->gates, &p->options, &p->fault))
		return -1;
	/* The table of all cells has no other unit. */
	if (p->test->schedule && !p->server && !p->options.experiment.plain)
		o->gbits = 1;
	/* What one client of a server that stays may ask for is limited also if nobody says so. */
	if (p->options.local.persistent)
		limits_default(&p->options.local);
	else if (p->server && !options_given(&p->options, "wait") && !p->options.drop_in &&
		 !isatty(STDIN_FILENO))
		p->options.local.wait_ns = UNSEEN_WAIT_NS;
	p->asked = p->options;
	if (check_file(p) || check_sweep(p, &p->fault))
		return -1;
	/* Check all points before measuring any; the options then hold the first one. */
	for (unsigned i = sweep_points(&p->asked.sweep); i-- > 0;)
		if (command_line_point(p, i))
			return -1;
	return 0;
}
