// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "launch.h"

#include <argz.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

	*l = (struct launch){.text = strdup(command)};
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

/* Add all words of LIST as one, separated by SEPARATOR, and release them. */
static void add_joined(struct line *c, struct line *list, char separator)
{
	argz_stringify(list->words, list->bytes, separator);
	add(c, list->words ? list->words : "");
	c->failed |= list->failed;
	free(list->words);
}

/* One task on each node of the allocation; a task that ends or is killed ends nobody else. */
static void add_srun(struct line *c, const struct launch *l)
{
	const char *nodes = getenv("SLURM_JOB_NUM_NODES");

	add(c, "--kill-on-bad-exit=0");
	add(c, "--wait=0");
	add(c, "--no-kill");
	add(c, "--ntasks-per-node=1");
	if (!nodes || has(l, "-N") || has(l, "--nodes") || has(l, "-n") || has(l, "--ntasks") ||
	    has(l, "-w") || has(l, "--nodelist"))
		return;
	add(c, "-N");
	add(c, nodes);
	add(c, "-n");
	add(c, nodes);
}

static void add_mpirun(struct line *c, const struct launch *l)
{
	if (!has(l, "-n") && !has(l, "-N") && !has(l, "--map-by") && !has(l, "--np")) {
		add(c, "-N");
		add(c, "1");
	}
	add(c, "--enable-recovery");
}

/* clush and pdsh: all nodes at once, and no names in front of the lines. */
static void add_shells(struct line *c, const struct launch *l, char *const *hosts)
{
	struct line list = {0};
	char many[24];
	size_t n = 0;

	while (hosts && hosts[n])
		n++;
	snprintf(many, sizeof(many), "%zu", n ? n : 4096);
	if (n && !has(l, "-w") && !has(l, "-a") && !has(l, "-g")) {
		for (; *hosts; hosts++)
			add(&list, *hosts);
		add(c, "-w");
		add_joined(c, &list, ',');
	}
	if (!has(l, "-f") && !has(l, "--fanout")) {
		add(c, "-f");
		add(c, many);
	}
	add(c, "-N");
}

/* The shell, its script, the command as one word and the hosts replace what there is. */
static void add_ssh(struct line *c, char *const *command, char *const *hosts)
{
	struct line remote = {0};

	add(c, "-c");
	add(c, ssh_script);
	add(c, "ssh");
	while (*command)
		add_quoted(&remote, *command++);
	add_joined(c, &remote, ' ');
	while (*hosts)
		add(c, *hosts++);
}

char **launch_command(const struct launch *l, char *const *command, char *const *hosts,
		      struct fault *f)
{
	struct line c = {0};
	char **argv;

	if (l->kind == LAUNCH_SSH && (!hosts || l->words > 1)) {
		if (!hosts)
			fault_raise(f, FAULT_USAGE, 0, "--launch=ssh needs --hosts");
		else
			fault_raise(f, FAULT_USAGE, 0, "--launch=ssh has no options");
		fault_fix(f, "name the hosts in a file, and ssh's options in its configuration");
		return NULL;
	}
	add(&c, l->kind == LAUNCH_SSH ? "sh" : l->word[0]);
	for (size_t i = 1; i < l->words; i++)
		add(&c, l->word[i]);
	if (l->kind == LAUNCH_SRUN)
		add_srun(&c, l);
	else if (l->kind == LAUNCH_MPIRUN)
		add_mpirun(&c, l);
	else if (l->kind == LAUNCH_SSH)
		add_ssh(&c, command, hosts);
	else
		add_shells(&c, l, hosts);
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
}
