// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A process from its command line to its exit status. */
#include "session/program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/phase.h"
#include "base/units.h"
#include "host/hwtree.h"
#include "host/sysfs.h"
#include "proto/json_memory.h"
#include "report/list.h"

/* A server that stays has other clients: it does not wait longer for a reader of what it writes. */
#define OUTPUT_NS UNITS_NS_PER_S

static int run_session(struct program *p, struct session *s)
{
	const struct report_about about = {
		.program = p->name,
		.test = p->test,
		.server = p->server,
		.options = &p->options,
		.streams = &p->streams,
	};

	if (stop_init(&p->stop, &p->fault))
		return -1;
	streams_open(&p->streams, &p->stop);
	if (report_open(&p->report, &about, &p->fault))
		return -1;
	s->ms.audience.live = p->report.tty;
	p->stop.output_ns = p->options.local.persistent ? OUTPUT_NS : 0;
	command_line_notes(p);
	clock_init(&p->clock, sysfs_root());
	steal_open(&p->steal, "/proc/stat");
	if (auth_open(&p->auth, &p->fault) ||
	    (p->server && auth_rehearse(&p->auth, &p->fault)))
		return -1;
	return p->server ? session_server(s) : session_client(s);
}

/* True if a signal is a regular end. */
static bool ends_by_signal(const struct program *p, const struct session *s)
{
	return p->options.local.persistent ||
	       (p->options.experiment.run_infinitely && s->ms.measured);
}

/*
 * An interruption is no failure if something was measured, but the results may still miss a
 * threshold. If nothing was measured, raise whose signal it was.
 */
static void judge_interruption(struct session *s)
{
	struct program *p = s->program;

	if (s->link.interrupted && p->stop.signal && !s->ms.measured && !ends_by_signal(p, s)) {
		fault_clear(&p->fault);
		stop_raise(&p->stop, &p->fault);
	}
	if (p->fault.code != FAULT_INTERRUPTED)
		return;
	if (s->ms.measured && !s->link.interrupted) /* in an exchange: no measurement has said so */
		report_note(s->ms.report, "interrupted%s",
			    link_interrupted_by(&s->link, p->server));
	s->link.interrupted = true;
	if (s->ms.measured) {
		fault_clear(&p->fault);
		measure_verdict(&s->ms); /* what was found before stays found */
	} else if (p->fault.from_peer) {
		p->fault.code = FAULT_PEER;
	}
}

/* The first option that P's run has to pass; NULL: it has none. */
static const char *threshold_of(const struct program *p)
{
	const char *threshold = gates_threshold(&p->gates);

	return !threshold && options_given(&p->options, "within") ? "--within" : threshold;
}

/* Put into the document which threshold the client's run had. */
static void note_threshold(struct program *p)
{
	const char *option = threshold_of(p);

	if (p->report.about.options && !p->server && option)
		report_own_key(&p->report, "threshold", json_string(strstr(option, "--")));
}

/* Fail a run with a threshold that the server's signal cut short: only a whole run can pass. */
static void judge_part(struct session *s)
{
	struct program *p = s->program;
	const char *threshold = threshold_of(p);

	if (fault_is(&p->fault) || !threshold || p->server || !s->link.interrupted ||
	    p->stop.signal || p->options.experiment.run_infinitely)
		return;
	fault_phase(&p->fault, PHASE_JUDGE);
	fault_raise(&p->fault, FAULT_PEER, 0, "the server was interrupted before the run ended");
	fault_cause(&p->fault, "The part that was measured meets %s, but only a whole run can pass",
		    threshold);
	fault_fix(&p->fault, "measure again");
}

/* True if the reader of stdout has closed it: like other programs in a pipe, end silently. */
static bool reader_is_gone(const struct program *p)
{
	return p->fault.code == FAULT_INTERRUPTED && p->fault.signal == SIGPIPE;
}

/* Finish, after a signal perhaps by dying of it. */
static int finish_program(struct program *p, struct session *s)
{
	bool stays = ends_by_signal(p, s);
	struct fault writing = {0};

	if (fault_is(&p->fault))
		link_tell_peer(&s->link);
	judge_interruption(s);
	if (!fault_is(&p->fault) && !p->server)
		gates_verdict(&p->gates, &p->fault);
	judge_part(s);
	note_threshold(p);
	if (p->report.about.options &&
	    report_close(&p->report, &p->fault, s->link.interrupted, &writing) &&
	    !fault_is(&p->fault))
		p->fault = writing;
	session_name_reporter(s);
	if (fault_is(&p->fault) && !reader_is_gone(p))
		fault_print(&p->fault, p->name, stderr);
	listener_close(&p->listener);
	session_release(s);
	auth_release(&p->auth);
	repeat_release(&p->repeat);
	steal_close(&p->steal);
	streams_close(&p->streams);
	stop_release(&p->stop);
	free(p->offer);
	/*
	 * A client always dies of the signal, so that a shell's loop ends and a scheduler's kill is
	 * no success; a server of Ctrl-C only, because SIGTERM is the regular way to stop it.
	 */
	if (p->stop.signal && (!p->server || p->stop.signal == SIGINT) && !stays)
		stop_die(p->stop.signal);
	if (reader_is_gone(p))
		stop_die(SIGPIPE);
	return fault_exit_status(&p->fault);
}

/*
 * If stdin, stdout or stderr is closed, open /dev/null there, so that no socket gets its number.
 * Open it read-only: a write then fails and is reported.
 */
static void hold_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", O_RDONLY); /* takes the lowest free number: this one */
}

/* Print all options, as perftest does: scripts search its help for an option. */
static int print_help(const struct program *p)
{
	bool perftest = p->options.output.format == FORMAT_PERFTEST;
	bool all = perftest || strcmp(p->options.local.help, "all") == 0;
	struct options defaults;

	options_init(&defaults, &p->test->defaults);
	defaults.drop_in = perftest;
	defaults.traits = p->offers > 1 ? 0 : operation_traits(p->test);
	if (p->options.local.check)
		options_help_check(stdout, &defaults);
	else if (p->offers > 1)
		options_help_server(stdout, &defaults);
	else
		options_help(stdout, p->name, p->test->summary, &defaults, all);
	return list_finish(p->name, &p->fault, 0);
}

static int read_as(struct program *p, const struct offer *o)
{
	fault_clear(&p->fault);
	p->test = o->test;
	return command_line_read(p);
}

/*
 * Read the command line as each of the COUNT TESTS reads it. P is of the first that it fits; if it
 * fits none, it has the fault of the first that has all options. Returns 0 or -1.
 */
static int read_offers(struct program *p, const struct test *const *tests, size_t count)
{
	size_t first = 0;
	int fits, best = 0; /* 1: the test has all options; 2: and they fit */

	p->offer = calloc(count, sizeof(*p->offer));
	if (!p->offer)
		return fault_raise(&p->fault, FAULT_LOCAL, ENOMEM, "calloc");
	for (; p->offers < count; p->offers++) {
		struct offer *o = &p->offer[p->offers];

		o->test = tests[p->offers];
		fits = read_as(p, o) ? !p->options.lacks : 2;
		if (fits == 2)
			o->asked = p->asked;
		else
			o->refused = p->fault;
		if (fits > best)
			first = p->offers;
		best = fits > best ? fits : best;
	}
	if (count == 1)
		return best == 2 ? 0 : -1;
	return read_as(p, &p->offer[first]);
}

/* What only prints something. Returns the exit status; -1: nothing of that is asked for. */
static int inform(const struct program *p)
{
	bool one = p->offers == 1;

	if (p->options.local.help)
		return print_help(p);
	if (p->options.local.version) {
		if (p->options.output.format == FORMAT_PERFTEST)
			printf("Version: %s\n", RDMARK_VERSION);
		else
			printf("%s%s %s\n", one ? p->test->name : "rdmark", one ? " (rdmark)" : "",
			       RDMARK_VERSION);
		return list_finish(p->name, &p->fault, 0);
	}
	hwtree_prepare();
	if (p->options.local.check)
		return check_ports(p->name, p->options.local.device, &p->options.output);
	return -1;
}

int session_main(const struct test *const *tests, size_t count, char **argv)
{
	struct program p = {
		.test = tests[0],
		.name = argv[0] ? basename(argv[0]) : "rdmark",
		.argv = argv,
		.stop = {.fd = -1},
		.listener = LISTENER_CLOSED,
	};
	struct session s;
	int rc;

	hold_standard_descriptors();
	json_memory_init();
	rc = read_offers(&p, tests, count);
	session_init(&s, &p);
	if (rc)
		return finish_program(&p, &s);
	rc = inform(&p);
	if (rc >= 0) {
		free(p.offer);
		return rc;
	}
	run_session(&p, &s);
	return finish_program(&p, &s);
}
