// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "step.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "pairs/pairs.h"
#include "pairs/schedule.h"
#include "proto/fields.h"
#include "proto/json_memory.h"

#define LINE_BYTES_MAX  65536
#define PATIENCE_NS     (300 * UNITS_NS_PER_S) /* without a line: for a queue, or 1000 slow nodes */
#define GRACE_S         30 /* after the last slot: for the last lines and the launcher's own end */
#define KILL_NS         (10 * UNITS_NS_PER_S) /* between that it is told and SIGKILL */
#define SIGNALS_TO_KILL 3
#define PROGRESS_NS     UNITS_NS_PER_S

/* The process that was started, not all that it started. It can still be waited for. */
static bool has_ended(const struct step *s)
{
	siginfo_t info = {0};

	return !waitid(P_PID, (id_t)s->launcher.pid, &info, WEXITED | WNOHANG | WNOWAIT) &&
	       info.si_pid;
}

/* Start the launcher, which is told to end if this process dies. */
static int start_launcher(struct step *s, struct fault *f)
{
	struct process_attr a = {
		.argv = s->command, .launcher = true, .heard = true, .orphan = SIGTERM};
	struct rlimit files;

	if (!getrlimit(RLIMIT_NOFILE, &files)) { /* clush needs several for each host */
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	/* A second srun is not to wait for the step of the first, which lives on with a node that
	 * died; */
	setenv("SLURM_OVERLAP", "1", 0);
	/* and clush, of Python, not to keep lines that are lost when it is told to end. */
	setenv("PYTHONUNBUFFERED", "1", 0);
	s->deadline_ns = clock_now_ns() + PATIENCE_NS;
	return process_start(&s->launcher, &a, f);
}

/* Seconds until the last slot is over. */
static double left_s(const struct step *s)
{
	return fmax(s->end_s - (double)clock_utc_ns() / 1e9, 0);
}

/* The host of the line O; NULL: it is none that is known. */
static struct host *host_of(const struct step *s, const json_t *o)
{
	uint32_t at = hosts_find(s->hosts, json_text_at(o, "host"));

	return at != HOSTS_NONE ? &s->hosts->host[at] : NULL;
}

/*
 * A player says how long the schedule lasts; then the time by which all must be over is known. HOST:
 * NULL if no hosts are known.
 */
static void read_player(struct step *s, struct host *host, const json_t *o)
{
	double rounds = json_number_value(json_object_get(o, "rounds"));
	double slot_s = json_number_value(json_object_get(o, "slot_s"));
	double end_s = s->start_s + rounds * slot_s;

	s->players++;
	if (host)
		host->came = true;
	if (!(rounds > 0 && slot_s > 0 && end_s < s->start_s + s->lasts_s + 1) || end_s <= s->end_s)
		return;
	s->rounds = rounds;
	s->end_s = end_s;
	if (!s->told)
		s->deadline_ns = clock_now_ns() + (uint64_t)((left_s(s) + GRACE_S) * 1e9);
}

static void read_line(struct step *s, const char *line, size_t n)
{
	json_t *o = json_memory_load(line, n, 0, NULL);
	const char *kind = json_text_at(o, "kind");
	struct host *host = host_of(s, o);

	if (strcmp(kind, "pair") == 0) {
		s->pairs++;
		s->failed += strcmp(json_text_at(o, "status"), "failed") == 0;
	} else if (s->hosts->n && !host) {
		; /* a host that has no part in it */
	} else if (strcmp(kind, "player") == 0) {
		read_player(s, host, o);
	} else if (strcmp(kind, "done") == 0) {
		s->ends++;
		s->complete += s->rounds > 0 &&
			       json_number_value(json_object_get(o, "rounds")) >= s->rounds;
		if (host)
			host->done = true;
	} else if (strcmp(kind, "server") == 0 && strcmp(json_text_at(o, "cause"), "port") == 0 &&
		   s->pairs == s->failed && !*s->taken) {
		/* One that never began, because of another sweep's. */
		text_copy(s->taken, sizeof(s->taken), json_text_at(o, "host"));
	}
	json_decref(o);
}

/* On a terminal: one line that is written over. */
static void show_progress(struct step *s, bool last)
{
	uint64_t now_ns = clock_now_ns();

	if (!isatty(STDERR_FILENO) || (!last && now_ns < s->shown_ns + PROGRESS_NS))
		return;
	s->shown_ns = now_ns;
	fprintf(stderr, "\r%u players, %u runs, %u without a figure; %.0f s left\033[K%s",
		s->players, s->pairs, s->failed, left_s(s), last ? "\n" : "");
}

static void end_launcher(struct step *s, int signal)
{
	process_signal(&s->launcher, signal);
	s->told = true;
	s->deadline_ns = clock_now_ns() + KILL_NS;
}

/* Write the N bytes of BUF to the file. If not all is there the launcher is told to end. */
static void keep(struct step *s, const char *buf, size_t n, struct fault *f)
{
	int err = s->launcher.lost ? ENOMEM : 0;

	for (ssize_t wrote; n && !err && !fault_is(f); buf += wrote, n -= (size_t)wrote) {
		wrote = write(s->out, buf, n);
		if (wrote >= 0)
			continue;
		err = errno;
		wrote = 0;
	}
	if (!err || fault_is(f))
		return;
	fault_raise(f, FAULT_LOCAL, err, "writing the lines of the nodes");
	end_launcher(s, s->end_signal);
}

/* Take what the launcher has written. Returns 1, or 0 at its end. */
static int take_lines(struct step *s, struct fault *f)
{
	struct process *p = &s->launcher;
	size_t had = p->said_n;
	int goes_on = process_hear(p);
	char *line = p->said, *end;

	if (line)
		keep(s, line + had, p->said_n - had, f);
	while (line && (end = memchr(line, '\n', p->said_n - (size_t)(line - p->said)))) {
		read_line(s, line, (size_t)(end - line));
		line = end + 1;
	}
	process_forget_lines(p);
	if (p->said_n > LINE_BYTES_MAX) /* no line of ours */
		p->said_n = 0;
	if (*s->taken && !s->told)
		end_launcher(s, s->end_signal);
	return goes_on;
}

/* Read until the launcher has closed its output. */
static void follow(struct step *s, struct stop *stop, struct fault *f)
{
	bool goes_on = true;

	while (goes_on) {
		struct fault told = {0};
		int ready = stop_wait(stop, s->launcher.out, POLLIN, s->deadline_ns, &told);

		if (ready < 0 && told.code != FAULT_INTERRUPTED) {
			*f = told;
			return;
		}
		if (ready > 0)
			goes_on = take_lines(s, f);
		else if (ready < 0)
			end_launcher(s, stop->count < SIGNALS_TO_KILL ? s->end_signal : SIGKILL);
		else if (s->told && has_ended(s))
			goes_on = false; /* what it put into other groups, as mpirun its ssh, may
					    hold that open */
		else {
			s->overdue = true;
			end_launcher(s, s->told ? SIGKILL : s->end_signal);
		}
		show_progress(s, !goes_on);
	}
}

int step_run(struct step *s, struct stop *stop, struct fault *f)
{
	bool ssh = strcmp(s->name, "ssh") == 0;
	struct fault ignored = {0};

	if (start_launcher(s, f))
		return -1;
	follow(s, stop, f);
	/* It has closed its output: it ends soon, or is killed. */
	if (stop_wait(stop, s->launcher.end, POLLIN, clock_now_ns() + KILL_NS, &ignored) <= 0)
		process_signal(&s->launcher, SIGKILL);
	s->status = process_exit_status(process_reap(&s->launcher));
	process_release(&s->launcher);
	if (fault_is(f) || stop_check(stop, f))
		return -1;
	if (stop->signal)
		return stop_raise(stop, f);
	if (*s->taken) {
		fault_raise(f, FAULT_USAGE, 0, "%s: its TCP port is in use", s->taken);
		fault_cause(f, "Another sweep of these hosts may be running");
		return fault_fix(f, "wait until it has ended, or use another --port");
	}
	if (s->players)
		return 0;
	fault_raise(f, FAULT_DEADLINE, 0, "%s: no node has said anything", s->name);
	fault_cause(f, "It ended with status %d%s; its own messages are above", s->status,
		    s->status == 255 && ssh ? ", as where ssh itself fails"
		    : s->status == 127      ? ", as where a program is not found"
					    : "");
	if (ssh)
		return fault_fix(f, "try by hand, for each host: `ssh %s hostname`",
				 s->hosts->host[0].name);
	return fault_fix(f, "try `%s` by hand with a short command, such as `hostname`", s->name);
}
