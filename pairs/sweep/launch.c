// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "launch.h"

#include <argz.h>
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *const launchers[] = {"srun", "mpirun", "clush", "pdsh", "ssh"};

/* A shell here that starts ssh to each host, waits for all, and ends as the last that failed. */
static const char ssh_script[] =
	"command=$1; all=; failed=0; shift; "
	"for host; do ssh -n -o BatchMode=yes \"$host\" \"$command\" & all=\"$all $!\"; done; "
	"for one in $all; do wait $one || failed=$?; done; exit $failed";

/* A command line that grows: an argz vector. */
struct line {
	char *words;
	size_t bytes;
	bool failed; /* no memory */
};

int launch_read(struct launch *l, const char *command, struct fault *f)
{
	static const char blanks[] = " \t\n";
	const char *base;
	size_t n;

	*l = (struct launch){.names = -1};
	for (const char *at = command; *(at += strspn(at, blanks)); at += n) {
		n = strcspn(at, blanks);
		if (argz_append(&l->words, &l->bytes, at, n) ||
		    argz_append(&l->words, &l->bytes, "", 1))
			return fault_raise(f, FAULT_LOCAL, ENOMEM, "malloc");
	}
	base = l->bytes ? strrchr(l->words, '/') : NULL;
	base = base ? base + 1 : l->bytes ? l->words : "";
	for (size_t i = 0; i < sizeof(launchers) / sizeof(*launchers); i++)
		if (strcmp(base, launchers[i]) == 0) {
			l->kind = (enum launch_kind)i;
			return 0;
		}
	return fault_usage(f,
			   "use ssh, or srun, mpirun, clush or pdsh, with options of its own if need "
			   "be: --launch='clush -g compute'",
			   "--launch '%.60s' is no launcher", base);
}

static void add(struct line *c, const char *word)
{
	c->failed |= argz_add(&c->words, &c->bytes, word) != 0;
}

/* Add the words that blanks separate. */
static void add_all(struct line *c, const char *words)
{
	c->failed |= argz_add_sep(&c->words, &c->bytes, words, ' ') != 0;
}

/*
 * True if one of the user's options is one of NAMES (between blanks), or a short one of them with its
 * value. mpirun's -nolocal is no -n.
 */
static bool has_option(const struct launch *l, const char *names)
{
	for (const char *name = names; *name; name += strspn(name, " ")) {
		size_t size = strcspn(name, " ");
		bool is_short = name[0] == '-' && name[1] != '-';
		bool is_number = is_short && strchr("nNf", name[1]);

		for (const char *word = l->words; (word = argz_next(l->words, l->bytes, word));)
			if (strncmp(word, name, size) == 0 &&
			    ((is_short && !(is_number && isalpha((unsigned char)word[size]))) ||
			     !word[size] || word[size] == '='))
				return true;
		name += size;
	}
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

bool launch_takes_allocation(const struct launch *l)
{
	return l->kind == LAUNCH_SRUN && getenv("SLURM_JOB_NUM_NODES") &&
	       !has_option(l, "-N --nodes -n --ntasks -w --nodelist -x --exclude");
}

int launch_end_signal(const struct launch *l)
{
	return l->kind == LAUNCH_PDSH ? SIGINT : SIGTERM;
}

/* Leave out those HOSTS that are left out, of all that the launcher knows. */
static void add_left_out(struct line *c, const struct hosts *hosts)
{
	char *list = hosts_list(hosts, true);

	c->failed |= !list;
	add(c, "-x");
	add(c, list ? list : "");
	free(list);
}

static uint32_t count_hosts(const struct hosts *hosts)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < hosts->n; i++)
		n += !hosts->host[i].left_out;
	return n;
}

/* One task on each node of the allocation; a task that ends or is killed ends nobody else. */
static void add_srun(struct line *c, const struct launch *l, const struct hosts *hosts)
{
	const char *all = launch_takes_allocation(l) ? getenv("SLURM_JOB_NUM_NODES") : NULL;
	uint32_t n = count_hosts(hosts);
	char text[80] = "";

	add_all(c, "--kill-on-bad-exit=0 --wait=0 --no-kill --ntasks-per-node=1");
	if (n < hosts->n) {
		add_left_out(c, hosts);
		snprintf(text, sizeof(text), "-N %u -n %u", n, n);
	} else if (all) {
		snprintf(text, sizeof(text), "-N %.20s -n %.20s", all, all);
	}
	add_all(c, text); /* of two srun takes the second */
}

/*
 * clush and pdsh: all nodes at once, and no names in front of the lines. They read the hosts from a
 * file: a command line has no room for ten thousand.
 */
static void add_shells(struct line *c, struct launch *l, const struct hosts *hosts)
{
	uint32_t n = count_hosts(hosts);
	char text[40];

	if (hosts->n && !has_option(l, "-w -a -g --hostfile")) {
		if (l->names >= 0)
			close(l->names);
		l->names = memfd_create("hosts", 0);
		c->failed |= l->names < 0;
		for (uint32_t i = 0; i < hosts->n; i++)
			if (!hosts->host[i].left_out)
				c->failed |= dprintf(l->names, "%s\n", hosts->host[i].name) < 0;
		snprintf(text, sizeof(text), "%s/dev/fd/%d",
			 l->kind == LAUNCH_PDSH ? "-w ^" : "--hostfile=", l->names);
		add_all(c, text);
	} else if (n < hosts->n) {
		add_left_out(c, hosts);
	}
	if (!has_option(l, "-f --fanout")) {
		snprintf(text, sizeof(text), "-f %u", n ? n : 4096);
		add_all(c, text);
	}
	/* -S: it ends as its commands do; -b: at the first SIGINT */
	add_all(c, l->kind == LAUNCH_CLUSH ? "-S -N" : "-b -N");
}

/* A shell, its script, the command as one word and the hosts. */
static void add_ssh(struct line *c, char *const *command, const struct hosts *hosts)
{
	struct line remote = {0};

	add_all(c, "sh -c");
	add(c, ssh_script);
	add(c, "ssh");
	while (*command)
		add_quoted(&remote, *command++);
	argz_stringify(remote.words, remote.bytes, ' ');
	add(c, remote.words ? remote.words : "");
	c->failed |= remote.failed;
	free(remote.words);
	for (uint32_t i = 0; i < hosts->n; i++)
		if (!hosts->host[i].left_out)
			add(c, hosts->host[i].name);
}

char **launch_command(struct launch *l, char *const *command, const struct hosts *hosts,
		      struct fault *f)
{
	struct line c = {0};
	char **argv;

	if (l->kind == LAUNCH_SSH && (!hosts->n || argz_next(l->words, l->bytes, l->words))) {
		fault_raise(f, FAULT_USAGE, 0, "--launch=ssh %s",
			    hosts->n ? "takes no options" : "needs --hosts");
		fault_fix(f, hosts->n ? "set ssh's options in ~/.ssh/config"
				      : "name the nodes with --hosts");
		return NULL;
	}
	if (l->kind == LAUNCH_SSH) {
		add_ssh(&c, command, hosts);
	} else {
		c.failed = argz_append(&c.words, &c.bytes, l->words, l->bytes) != 0;
		if (l->kind == LAUNCH_SRUN)
			add_srun(&c, l, hosts);
		else if (l->kind == LAUNCH_MPIRUN)
			add_all(&c, has_option(l, "-n -N --map-by --np") ? "--enable-recovery"
								  : "-N 1 --enable-recovery");
		else
			add_shells(&c, l, hosts);
		for (; *command; command++)
			if (l->kind == LAUNCH_CLUSH || l->kind == LAUNCH_PDSH)
				add_quoted(&c, *command);
			else
				add(&c, *command);
	}
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
	free(l->words);
	l->words = NULL;
	if (l->names >= 0)
		close(l->names);
	l->names = -1;
}
