// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "report/list.h"
#include "session/plan.h"
#include "session/state.h"
#include "session/transport.h"

uint64_t session_deadline(const struct session *s)
{
	return clock_now_ns() + s->options.local.timeout_ns;
}

int session_read_timeout(struct session *s, const json_t *m)
{
	const struct option_row *row = options_find("timeout");

	if (message_u64(m, "timeout_ns", row->max, &s->peer_timeout_ns, &s->fault))
		return -1;
	return message_has(m, "timeout_ns", s->peer_timeout_ns >= row->min, &s->fault);
}

int session_read_memory(struct session *s, const json_t *m)
{
	bool theirs;

	if (message_flag(m, "gpu_memory", &theirs, &s->fault))
		return -1;
	/* A ping-pong polls memory, which no CPU can with a GPU's. */
	s->immediate = s->test->lead_immediate && (s->options.experiment.write_with_imm ||
						   (s->test->latency && (s->gpu_memory || theirs)));
	return transport_check_memory(&s->options.experiment, s->test, s->immediate, &s->fault);
}

void session_linger(struct session *s)
{
	uint64_t ns = s->options.local.wait_destroy_ns;
	struct fault ignored = {0};

	if (ns && s->strands && !s->stop.signal && !fault_is(&s->fault))
		stop_wait(&s->stop, -1, 0, clock_now_ns() + ns, &ignored);
}

/* Rows while a run goes on that has no end of its own; perftest prints one every five seconds. */
static void choose_interval(struct options *o)
{
	if (!o->experiment.run_infinitely || o->output.interval_ns)
		return;
	o->output.interval_ns =
		o->experiment.duration_ns ? o->experiment.duration_ns : 5 * UNITS_NS_PER_S;
}

static const char *basename_of(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path ? path : "rdmark";
}

/* What only a server can do. */
static int check_client(struct session *s)
{
	static const char *const server[] = {"persistent", "max-memory", "max-duration", "max-qps"};

	for (size_t i = 0; i < sizeof(server) / sizeof(server[0]); i++)
		if (options_given(&s->options, server[i])) {
			fault_raise(&s->fault, FAULT_USAGE, 0, "--%s with a host", server[i]);
			return fault_fix(&s->fault, "it is the server's: give it where that is "
						    "started, without a host");
		}
	return 0;
}

bool session_keeps_samples(const struct session *s)
{
	return !experiment_endless(&s->options.experiment) && !s->repeat.most;
}

/* The command line, and what follows from it before anything is opened. */
static int read_command_line(struct session *s, int argc, char **argv)
{
	struct output_options *o = &s->options.output;

	options_init(&s->options, &s->test->defaults);
	s->options.test = s->test->name;
	if (options_parse(&s->options, argc, argv, &s->fault))
		return -1;
	if (strncmp(s->program, "ib_", 3) == 0 && !options_given(&s->options, "format"))
		o->format = FORMAT_PERFTEST;
	choose_interval(&s->options);
	if (!s->test->latency && !s->test->ways && !options_given(&s->options, "tx-depth"))
		s->options.experiment.tx_depth = plan_default_depth(&s->options.experiment);
	/* There the banner is on stdout, and what is on stderr gets mixed into it by 2>&1. */
	if (o->format == FORMAT_PERFTEST)
		o->quiet = 1;
	if (repeat_read(&s->repeat, &s->options, s->test->latency, &s->fault))
		return -1;
	if ((o->histogram || o->unsorted) && !session_keeps_samples(s) && !o->json) {
		fault_raise(&s->fault, FAULT_USAGE, 0,
			    "-H and -U print every sample, which %s does not keep",
			    s->repeat.most ? "--repeat" : "-D");
		return fault_fix(&s->fault, "use -n, or --json -H for the histogram");
	}
	if (s->options.local.host && !s->options.local.port) {
		fault_raise(&s->fault, FAULT_USAGE, 0, "-p/--port 0 with a host");
		return fault_fix(
			&s->fault,
			"only a server can take any free port; give the port that it printed");
	}
	if (s->options.local.host && check_client(s))
		return -1;
	if (o->only == (s->test->latency ? ONLY_BANDWIDTH : ONLY_LATENCY)) {
		fault_raise(&s->fault, FAULT_USAGE, 0, "--output: %s measures no %s", s->test->name,
			    s->test->latency ? "bandwidth" : "latency");
		return fault_fix(&s->fault, "--output=%s or --output=message_rate",
				 s->test->latency ? "latency" : "bandwidth");
	}
	if (endpoint_gpu_check(s) ||
	    gates_read(&s->gates, &s->options, s->test->latency, &s->fault))
		return -1;
	return plan_check(&s->options.experiment, s->test->latency, &s->fault) ||
			       transport_check(&s->options.experiment, s->test, &s->fault)
		       ? -1
		       : 0;
}

void session_show_ends(struct session *s)
{
	struct report_ends ends = {
		.rails = s->rails,
		.threads = s->strands / s->rails,
		.effective = &s->effective,
	};

	for (unsigned i = 0; i < s->rails; i++) {
		ends.mine[i] = &s->rail[i].mine;
		ends.theirs[i] = &s->rail[i].theirs;
		/* of the first thread: perftest's banner has their numbers */
		ends.my_qps[i] = &s->strand[i].mine;
		ends.their_qps[i] = &s->strand[i].theirs;
	}
	report_connected(&s->report, &ends);
}

static int run(struct session *s)
{
	struct report_about about = {
		.program = s->program,
		.test = s->test->name,
		.title = s->test->title,
		.latency = s->test->latency,
		.server = s->options.local.host == NULL,
		.writes = s->test->written,
		.csv_columns = s->options.local.host && !s->options.experiment.plain
				       ? s->test->csv_columns
				       : NULL,
		.options = &s->options,
	};

	if (report_open(&s->report, &about, &s->fault) || stop_init(&s->stop, &s->fault))
		return -1;
	clock_init(&s->clock);
	return about.server ? session_server(s) : session_client(s);
}

void session_tell_peer(struct session *s)
{
	struct fault ignored = {0};

	if (s->oob.fd >= 0 && !s->fault.from_peer)
		oob_send(&s->oob, message_from_fault(&s->fault),
			 clock_now_ns() + UINT64_C(1000000000), &ignored);
}

/* An interruption is no failure if something was measured; without, it is whose signal it was. */
static void settle_interruption(struct session *s)
{
	if (s->interrupted && s->stop.signal && !s->measured) {
		fault_clear(&s->fault);
		stop_raise(&s->stop, &s->fault);
	}
	if (s->fault.code != FAULT_INTERRUPTED)
		return;
	s->interrupted = true;
	if (s->measured)
		fault_clear(&s->fault);
	else if (s->fault.from_peer)
		s->fault.code = FAULT_PEER;
}

static int finish(struct session *s)
{
	struct fault writing = {0};

	if (fault_is(&s->fault))
		session_tell_peer(s);
	settle_interruption(s);
	if (!fault_is(&s->fault) && !s->report.about.server)
		gates_verdict(&s->gates, &s->fault);
	if (s->report.about.options)
		counting_stop(s, NULL);
	if (s->report.about.options &&
	    report_close(&s->report, &s->fault, s->interrupted, &writing) && !fault_is(&s->fault))
		s->fault = writing;
	if (fault_is(&s->fault))
		fault_print(&s->fault, s->program, stderr);
	door_close(&s->door);
	oob_release(&s->oob);
	session_linger(s);
	endpoint_release(s);
	repeat_release(&s->repeat);
	stop_release(&s->stop);
	return fault_exit_status(&s->fault);
}

/*
 * Whoever closed stdin, stdout or stderr must not find a socket in its place. Not open for writing:
 * a write fails, and that is reported.
 */
static void hold_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", O_RDONLY); /* takes the lowest free number: this one */
}

int session_main(const struct test *test, int argc, char **argv)
{
	struct session s = {
		.test = test,
		.program = basename_of(argv[0]),
		.stop = {.fd = -1},
		.door = DOOR_CLOSED,
		.oob = OOB_EMPTY,
	};
	struct options defaults;

	hold_standard_descriptors();
	if (read_command_line(&s, argc, argv))
		return finish(&s);
	if (s.options.local.help) {
		options_init(&defaults, &test->defaults);
		defaults.test = test->name;
		options_help(stdout, s.program, test->summary, &defaults);
		return list_finish(stdout, s.program);
	}
	if (s.options.local.version) {
		printf("%s (rdmark) %s\nVersion: %s\n", test->name, RDMARK_VERSION, RDMARK_VERSION);
		return list_finish(stdout, s.program);
	}
	if (s.options.local.list)
		return list_ports(stdout, s.program);
	run(&s);
	return finish(&s);
}
