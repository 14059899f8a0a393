// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "step.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "pairs/pairs.h"
#include "pairs/schedule.h"
#include "pairs/start.h"
#include "proto/fields.h"
#include "proto/json_memory.h"

#define LINE_MAX_BYTES  65536
#define PATIENCE_S      300 /* without any line: for a queue, or a slow start of 1000 nodes */
#define GRACE_S         30  /* after the last slot: for the last lines and the launcher's own end */
#define KILL_S          10  /* between SIGTERM and SIGKILL */
#define SIGNALS_TO_KILL 3
#define PROGRESS_NS     UINT64_C(1000000000)

struct launcher {
	pid_t pid;
	int fd;  /* its standard output */
	int end; /* at end of file when it and all that it started have ended */
	uint64_t deadline_ns;
	bool told; /* to end */
	uint64_t shown_ns;
	char line[LINE_MAX_BYTES];
	size_t used;
};

/* The process that was started, not all that it started. It can still be waited for. */
static bool has_ended(const struct launcher *l)
{
	siginfo_t info = {0};

	return waitid(P_PID, (id_t)l->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid;
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/*
 * Start the launcher in a process group of its own; it is told to end if this process dies. Returns
 * 0 or a positive errno.
 */
static int start_launcher(struct launcher *l, char *const *command)
{
	struct rlimit files;
	int end[2], rc;

	if (!getrlimit(RLIMIT_NOFILE, &files)) { /* clush needs several for each host */
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	if (pipe2(end, O_CLOEXEC))
		return errno;
	l->pid = start_process(&(struct start){.argv = command,
					       .errors = -1,
					       .held = end[1],
					       .orphan = SIGTERM,
					       .group = true},
			       &l->fd);
	rc = l->pid < 0 ? errno : 0;
	close(end[1]);
	l->end = end[0];
	if (rc)
		close(l->end);
	return rc;
}

/* What is measured again can last longer than all that was before. */
static void say_again(const struct step *s, double rounds, double slot_s)
{
	fprintf(stderr,
		"%s" PAIRS ": pairs to measure again: %u, in %.0f slots of %g s: about %.0f s\n",
		isatty(STDERR_FILENO) ? "\r\033[K" : "", s->again, rounds, slot_s,
		ceil(rounds * slot_s));
}

/* Note in LIST, of the hosts that are known, the one of the line O. */
static void mark(const struct step *s, bool *list, const json_t *o)
{
	const char *name = json_string_value(json_object_get(o, "host"));
	uint32_t at = s->hosts && list && name ? hosts_find(s->hosts, name) : HOSTS_NONE;

	if (at != HOSTS_NONE)
		list[at] = true;
}

/* A player says how long the schedule lasts; then the time by which all must be over is known. */
static void read_player(struct step *s, struct launcher *l, const json_t *o)
{
	double rounds = json_number_value(json_object_get(o, "rounds"));
	double slot_s = json_number_value(json_object_get(o, "slot_s"));
	double end_s = s->start_s + rounds * slot_s, left_s;
	json_int_t hosts = json_integer_value(json_object_get(o, "hosts"));

	s->players++;
	mark(s, s->came, o);
	if (hosts > (json_int_t)s->asked && hosts <= SCHEDULE_HOSTS_MAX)
		s->asked = (unsigned)hosts;
	if (!(rounds > 0 && slot_s > 0 && end_s < s->start_s + 1e7) || end_s <= s->end_s)
		return;
	if (s->again && !(s->end_s > 0))
		say_again(s, rounds, slot_s);
	s->end_s = end_s;
	left_s = end_s + GRACE_S - now_s();
	if (!l->told)
		l->deadline_ns =
			clock_now_ns() + (uint64_t)((left_s > GRACE_S ? left_s : GRACE_S) * 1e9);
}

static void read_done(struct step *s, const json_t *o)
{
	s->ends++;
	mark(s, s->done, o);
	s->needed_s = fmax(s->needed_s, json_number_value(json_object_get(o, "slot_needed_s")));
}

/* Servers that never began, because of another sweep's. */
static void read_server(struct step *s, const json_t *o)
{
	if (strcmp(json_text_at(o, "cause"), "port") == 0 && !s->pairs && !*s->taken)
		text_copy(s->taken, sizeof(s->taken), json_text_at(o, "host"));
}

static void read_line(struct step *s, struct launcher *l)
{
	json_t *o = json_memory_load(l->line, strlen(l->line), 0, NULL);
	const char *kind = json_text_at(o, "kind");

	if (strcmp(kind, "player") == 0)
		read_player(s, l, o);
	if (strcmp(kind, "done") == 0)
		read_done(s, o);
	if (strcmp(kind, "server") == 0)
		read_server(s, o);
	if (strcmp(kind, "pair") == 0) {
		s->pairs++;
		s->failed += strcmp(json_text_at(o, "status"), "failed") == 0;
	}
	json_decref(o);
}

/* On a terminal: one line that is written over. */
static void show_progress(const struct step *s, struct launcher *l, bool last)
{
	uint64_t now_ns = clock_now_ns();
	double left_s = s->end_s - now_s();

	if (!isatty(STDERR_FILENO) || (!last && now_ns < l->shown_ns + PROGRESS_NS))
		return;
	l->shown_ns = now_ns;
	fprintf(stderr, "\r%u players, %u runs, %u without a figure; %.0f s left\033[K%s",
		s->players, s->pairs, s->failed, left_s > 0 ? left_s : 0, last ? "\n" : "");
}

static void end_launcher(struct launcher *l, int signal)
{
	kill(-l->pid, signal);
	l->told = true;
	l->deadline_ns = clock_now_ns() + (uint64_t)KILL_S * 1000000000;
}

/* Write the N bytes of BUF to the file. If that fails the launcher is told to end. */
static void keep(struct step *s, struct launcher *l, const char *buf, ssize_t n, struct fault *f)
{
	for (ssize_t done = 0, wrote; done < n && !fault_is(f); done += wrote) {
		wrote = write(s->out, buf + done, (size_t)(n - done));
		if (wrote >= 0)
			continue;
		fault_raise(f, FAULT_LOCAL, errno, "writing the lines of the nodes");
		end_launcher(l, SIGTERM);
	}
}

/* Take what the launcher has written. Returns 1, 0 at its end, or -1 with FAULT_LOCAL. */
static int take_lines(struct step *s, struct launcher *l, struct fault *f)
{
	char buf[65536];
	ssize_t n = read(l->fd, buf, sizeof(buf));

	if (n < 0)
		return errno == EINTR ? 1 : fault_raise(f, FAULT_LOCAL, errno, "read");
	keep(s, l, buf, n, f);
	for (ssize_t i = 0; i < n; i++) {
		if (buf[i] != '\n' && l->used < LINE_MAX_BYTES - 1) {
			l->line[l->used++] = buf[i];
			continue;
		}
		l->line[l->used] = '\0';
		if (buf[i] == '\n')
			read_line(s, l);
		l->used = 0;
	}
	if (*s->taken && !l->told)
		end_launcher(l, SIGTERM);
	return n > 0;
}

/* Read until the launcher has closed its output. Returns 0 or -1 with the fault raised. */
static int follow(struct step *s, struct launcher *l, struct stop *stop, struct fault *f)
{
	int rc = 1, ready;

	while (rc > 0) {
		struct fault told = {0};

		ready = stop_wait(stop, l->fd, POLLIN, l->deadline_ns, &told);
		if (ready > 0)
			rc = take_lines(s, l, f);
		else if (ready < 0 && told.code == FAULT_INTERRUPTED)
			end_launcher(l, stop->count < SIGNALS_TO_KILL ? SIGTERM : SIGKILL);
		else if (ready < 0)
			return fault_raise(f, FAULT_LOCAL, errno, "poll");
		else if (l->told && has_ended(l))
			rc = 0; /* what it put into other groups, as mpirun its ssh, may hold that open */
		else {
			s->overdue = true;
			end_launcher(l, l->told ? SIGKILL : SIGTERM);
		}
		show_progress(s, l, rc <= 0);
	}
	return rc;
}

/* The launcher has closed its output: it ends soon, or is killed. Returns its status. */
static int await_end(struct launcher *l, struct stop *stop, bool now)
{
	struct fault told = {0};
	int status = 0;

	if (now || stop_wait(stop, l->end, POLLIN, clock_now_ns() + (uint64_t)KILL_S * 1000000000,
			     &told) <= 0)
		kill(-l->pid, SIGKILL);
	close(l->fd);
	close(l->end);
	while (waitpid(l->pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/*
 * A second srun is not to wait for the step of the first, which lives on with a node that died, and
 * clush, of Python, not to keep lines that are lost when it is told to end.
 */
static void set_environment(void)
{
	setenv("SLURM_OVERLAP", "1", 0);
	setenv("PYTHONUNBUFFERED", "1", 0);
}

int step_run(struct step *s, struct stop *stop, struct fault *f)
{
	struct launcher *l = calloc(1, sizeof(*l));
	int rc;

	fault_phase(f, "running on all nodes");
	set_environment();
	if (!l)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "calloc");
	rc = start_launcher(l, s->command);
	if (rc) {
		free(l);
		fault_raise(f, FAULT_LOCAL, rc, "starting %s", s->command[0]);
		return fault_fix(f, "install it, or use another --launch");
	}
	l->deadline_ns = clock_now_ns() + (uint64_t)PATIENCE_S * 1000000000;
	rc = follow(s, l, stop, f);
	s->status = await_end(l, stop, rc != 0);
	free(l);
	if (rc || fault_is(f))
		return -1;
	if (stop_check(stop, f) || stop->signal)
		return stop->signal ? stop_raise(stop, f) : -1;
	if (*s->taken) {
		fault_raise(f, FAULT_USAGE, 0, "%s: its TCP port is in use", s->taken);
		fault_cause(f, "Another sweep of these hosts may be under way");
		return fault_fix(f, "wait until it has ended, or use another --port");
	}
	if (s->players)
		return 0;
	fault_raise(f, FAULT_DEADLINE, 0, "%s: no node has said anything", s->command[0]);
	fault_cause(f, "It ended with status %d; its own messages are above",
		    WIFEXITED(s->status) ? WEXITSTATUS(s->status) : 128 + WTERMSIG(s->status));
	return fault_fix(f, "try it with another command: `%s hostname`", s->command[0]);
}
