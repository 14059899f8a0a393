// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "launch.h"

#include <argz.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *const names[] = {"srun", "mpirun", "clush", "pdsh", "ssh"};

/* A shell on this host that starts ssh to each host and waits for all. */
static const char ssh_script[] = "command=$1; shift; for host; do ssh -n -o BatchMode=yes "
				 "\"$host\" \"$command\" & done; wait";

/* A command line that grows: an argz vector. */
struct line {
	char *words;
	size_t bytes;
	bool failed; /* no memory */
};

int launch_read(struct launch *l, const char *command, struct fault *f)
{
	char *rest, *word;
	const char *base;

	*l = (struct launch){.text = strdup(command), .names = -1};
	if (!l->text)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "strdup");
	for (rest = l->text; (word = strtok_r(rest, " \t\n", &rest));) {
		if (l->words == LAUNCH_WORDS_MAX) {
			fault_raise(f, FAULT_USAGE, 0, "--launch has more than %d words",
				    LAUNCH_WORDS_MAX);
			return fault_fix(f, "write a script that starts the launcher");
		}
		l->word[l->words++] = word;
	}
	base = l->words ? strrchr(l->word[0], '/') : NULL;
	base = base ? base + 1 : l->words ? l->word[0] : "";
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(base, names[i]) == 0) {
			l->kind = (enum launch_kind)i;
			return 0;
		}
	fault_raise(f, FAULT_USAGE, 0, "--launch '%.60s' is no launcher", base);
	return fault_fix(f, "use srun, mpirun, clush, pdsh or ssh, with options of its own if need "
			    "be: --launch='clush -g compute'");
}

static void add(struct line *c, const char *word)
{
	c->failed |= argz_add(&c->words, &c->bytes, word) != 0;
}

/* True if one of the user's words is NAME, or begins with it and is a short option with its value.
 */
static bool has(const struct launch *l, const char *name)
{
	size_t size = strlen(name);
	bool is_short = name[0] == '-' && name[1] != '-';

	for (size_t i = 1; i < l->words; i++)
		if (strncmp(l->word[i], name, size) == 0 &&
		    (is_short || !l->word[i][size] || l->word[i][size] == '='))
			return true;
	return false;
}

/*
 * Add WORD for a shell that reads the words again on the other side. Words that need no quotes have
 * none: pdsh's and clush's own workers on this host take words as they are.
 */
static void add_quoted(struct line *c, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "-_=./:,@%+";
	char *quoted, *to;

	if (*word && !word[strspn(word, plain)]) {
		add(c, word);
		return;
	}
	quoted = to = malloc(4 * strlen(word) + 3);
	if (!quoted) {
		c->failed = true;
		return;
	}
	*to++ = '\'';
	for (; *word; word++) {
		if (*word == '\'')
			to = stpcpy(to, "'\\'");
		*to++ = *word;
	}
	strcpy(to, "'");
	add(c, quoted);
	free(quoted);
}

/* True if the user says which nodes, or how many. */
static bool has_nodes(const struct launch *l)
{
	static const char *const says[] = {"-N", "--nodes",    "-n", "--ntasks",
					   "-w", "--nodelist", "-x", "--exclude"};

	for (size_t i = 0; i < sizeof(says) / sizeof(*says); i++)
		if (has(l, says[i]))
			return true;
	return false;
}

bool launch_takes_allocation(const struct launch *l)
{
	return l->kind == LAUNCH_SRUN && getenv("SLURM_JOB_NUM_NODES") && !has_nodes(l);
}

/* Add the list of HOSTS that are left out or not (WANTED). */
static void add_list(struct line *c, const struct hosts *hosts, const bool *left_out, bool wanted)
{
	char *list = hosts_list(hosts, left_out, wanted);

	c->failed |= !list;
	add(c, list ? list : "");
	free(list);
}

static uint32_t count_hosts(const struct hosts *hosts, const bool *left_out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; hosts && i < hosts->n; i++)
		n += !left_out || !left_out[i];
	return n;
}

/* One task on each node of the allocation; a task that ends or is killed ends nobody else. */
static void add_srun(struct line *c, const struct launch *l, const struct hosts *hosts,
		     const bool *left_out)
{
	char live[24] = "";

	add(c, "--kill-on-bad-exit=0");
	add(c, "--wait=0");
	add(c, "--no-kill");
	add(c, "--ntasks-per-node=1");
	if (hosts && left_out) {
		add(c, "-x");
		add_list(c, hosts, left_out, true);
		snprintf(live, sizeof(live), "%u", count_hosts(hosts, left_out));
	} else if (launch_takes_allocation(l)) {
		snprintf(live, sizeof(live), "%s", getenv("SLURM_JOB_NUM_NODES"));
	}
	if (!*live)
		return;
	add(c, "-N"); /* of two srun takes the second */
	add(c, live);
	add(c, "-n");
	add(c, live);
}

static void add_mpirun(struct line *c, const struct launch *l)
{
	if (!has(l, "-n") && !has(l, "-N") && !has(l, "--map-by") && !has(l, "--np")) {
		add(c, "-N");
		add(c, "1");
	}
	add(c, "--enable-recovery");
}

/* Write the names of those that are not left out to a file that clush and pdsh read: a command line
 * has no room for ten thousand. */
static void write_names(struct line *c, struct launch *l, const struct hosts *hosts,
			const bool *left_out)
{
	if (l->names >= 0)
		close(l->names);
	l->names = memfd_create("hosts", 0);
	c->failed |= l->names < 0;
	for (uint32_t i = 0; i < hosts->n; i++)
		if (!left_out || !left_out[i])
			c->failed |= dprintf(l->names, "%s\n", hosts->host[i].name) < 0;
}

/* clush and pdsh: all nodes at once, and no names in front of the lines. */
static void add_shells(struct line *c, struct launch *l, const struct hosts *hosts,
		       const bool *left_out)
{
	bool own = has(l, "-w") || has(l, "-a") || has(l, "-g") || has(l, "--hostfile");
	uint32_t n = count_hosts(hosts, left_out);
	char text[40];

	if (hosts && !own) {
		write_names(c, l, hosts, left_out);
		snprintf(text, sizeof(text), "%s/dev/fd/%d",
			 l->kind == LAUNCH_PDSH ? "^" : "--hostfile=", l->names);
		if (l->kind == LAUNCH_PDSH)
			add(c, "-w");
		add(c, text);
	} else if (hosts && left_out) {
		add(c, "-x");
		add_list(c, hosts, left_out, true);
	}
	if (!has(l, "-f") && !has(l, "--fanout")) {
		snprintf(text, sizeof(text), "%u", n ? n : 4096);
		add(c, "-f");
		add(c, text);
	}
	add(c, "-N");
}

/* The shell, its script, the command as one word and the hosts replace what there is. */
static void add_ssh(struct line *c, char *const *command, const struct hosts *hosts,
		    const bool *left_out)
{
	struct line remote = {0};

	add(c, "-c");
	add(c, ssh_script);
	add(c, "ssh");
	while (*command)
		add_quoted(&remote, *command++);
	argz_stringify(remote.words, remote.bytes, ' ');
	add(c, remote.words ? remote.words : "");
	c->failed |= remote.failed;
	free(remote.words);
	for (uint32_t i = 0; i < hosts->n; i++)
		if (!left_out || !left_out[i])
			add(c, hosts->host[i].name);
}

char **launch_command(struct launch *l, char *const *command, const struct hosts *hosts,
		      const bool *left_out, struct fault *f)
{
	struct line c = {0};
	char **argv;

	if (l->kind == LAUNCH_SSH && (!hosts || l->words > 1)) {
		if (!hosts)
			fault_raise(f, FAULT_USAGE, 0, "--launch=ssh needs --hosts");
		else
			fault_raise(f, FAULT_USAGE, 0, "--launch=ssh has no options");
		fault_fix(f, "name the hosts there, and ssh's options in its configuration");
		return NULL;
	}
	add(&c, l->kind == LAUNCH_SSH ? "sh" : l->word[0]);
	for (size_t i = 1; i < l->words; i++)
		add(&c, l->word[i]);
	if (l->kind == LAUNCH_SRUN)
		add_srun(&c, l, hosts, left_out);
	else if (l->kind == LAUNCH_MPIRUN)
		add_mpirun(&c, l);
	else if (l->kind == LAUNCH_SSH)
		add_ssh(&c, command, hosts, left_out);
	else
		add_shells(&c, l, hosts, left_out);
	for (; l->kind != LAUNCH_SSH && *command; command++)
		if (l->kind == LAUNCH_CLUSH || l->kind == LAUNCH_PDSH)
			add_quoted(&c, *command);
		else
			add(&c, *command);
	argv = calloc(argz_count(c.words, c.bytes) + 1, sizeof(*argv));
	if (!argv || c.failed) {
		free(c.words);
		free(argv);
		fault_raise(f, FAULT_LOCAL, ENOMEM, "malloc");
		return NULL;
	}
	argz_extract(c.words, c.bytes, argv);
	return argv;
}

void launch_free_command(char **command)
{
	if (command)
		free(command[0]);
	free(command);
}

void launch_release(struct launch *l)
{
	free(l->text);
	l->text = NULL;
	if (l->names >= 0)
		close(l->names);
	l->names = -1;
}
