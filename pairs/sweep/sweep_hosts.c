// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The hosts of a sweep, and what travels to them in the command line of `run`: they need not have
 * the files of this host.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pairs/lines.h"
#include "pairs/pairs.h"
#include "pairs/schedule.h"
#include "sweep.h"

/* Those of --hosts, or of the allocation of Slurm if srun uses all of it. */
static int find_hosts(struct node_sweep *s)
{
	const char *list = getenv("SLURM_JOB_NODELIST");

	if (s->hosts)
		return hosts_read(&s->known, s->hosts, &s->fault);
	if (list && launch_takes_allocation(&s->launch))
		return hosts_expand(&s->known, list, "SLURM_JOB_NODELIST", &s->fault);
	return 0;
}

/*
 * WORD with what is in FILE, with whose name it ends; as it is if that is too long for a command
 * line, which is said.
 */
static char *join(struct node_sweep *s, const char *word, const char *file)
{
	unsigned lines;
	char *joined = lines_join(file, &lines, &s->fault), *text = NULL;

	if (joined && asprintf(&text, "%.*s%s", (int)(file - word), word, joined) < 0) {
		fault_raise(&s->fault, FAULT_LOCAL, ENOMEM, "malloc");
		text = NULL;
	}
	if (text && !lines_are_joined(joined))
		fprintf(stderr,
			PAIRS ": %s does not fit into a command line: all nodes have to have it, "
			      "by this name\n",
			file);
	free(joined);
	return text;
}

/* The hosts as a list, unless they have addresses. */
static char *join_hosts(struct node_sweep *s)
{
	bool plain = true;
	char *list;

	for (uint32_t i = 0; i < s->known.n; i++)
		plain &= !*s->known.host[i].address && !s->known.host[i].port;
	list = plain ? hosts_list(&s->known, false) : NULL;
	if (plain && !list)
		fault_raise(&s->fault, FAULT_LOCAL, ENOMEM, "malloc");
	if (fault_is(&s->fault))
		return NULL;
	if (list && (strlen(list) <= LINES_JOINED_MAX || !s->hosts || hosts_are_listed(s->hosts)))
		return list;
	free(list);
	return join(s, s->hosts, s->hosts);
}

int sweep_find_hosts(struct node_sweep *s)
{
	const char *file = s->schedule ? schedule_file(s->schedule) : NULL;

	if (find_hosts(s) || ((s->hosts || s->known.n) && hosts_complete(&s->known, &s->fault)))
		return -1;
	if (s->known.n)
		s->travels[0] = join_hosts(s);
	if (s->only && !fault_is(&s->fault))
		s->travels[1] = join(s, s->only, s->only);
	if (file && !fault_is(&s->fault))
		s->travels[2] = join(s, s->schedule, file);
	else if (s->schedule)
		s->travels[2] = strdup(s->schedule);
	return fault_is(&s->fault) ? -1 : 0;
}

void sweep_put_hosts(const struct node_sweep *s, struct words *command)
{
	static const char *const names[] = {"--hosts", "--only", "--schedule"};

	for (int i = 0; i < 3; i++)
		if (s->travels[i]) {
			words_put(command, names[i]);
			words_put(command, s->travels[i]);
		}
}

void sweep_release_hosts(struct node_sweep *s)
{
	for (int i = 0; i < 3; i++)
		free(s->travels[i]);
	hosts_release(&s->known);
}
