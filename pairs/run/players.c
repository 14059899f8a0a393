// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "players.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

static int find_hosts(struct players *p, const struct players_asked *asked, struct fault *f)
{
	const char *list = getenv("SLURM_STEP_NODELIST");

	if (asked->hosts)
		return hosts_read(&p->hosts, asked->hosts, f);
	if (list)
		return hosts_expand(&p->hosts, list, "SLURM_STEP_NODELIST", f);
	return fault_usage(f, "start it with srun, or name them with --hosts",
			   "the hosts of the run are not known");
}

/* The number that a launcher gave this process; HOSTS_NONE: none did. */
static uint32_t launcher_number(const char **variable)
{
	static const char *const names[] = {"SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMIX_RANK",
					    "PMI_RANK", "JOB_COMPLETION_INDEX"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *text = getenv(names[i]);
		char *end;
		unsigned long v;

		if (!text || !isdigit((unsigned char)*text))
			continue;
		v = strtoul(text, &end, 10);
		*variable = names[i];
		return *end || v >= HOSTS_NONE ? HOSTS_NONE : (uint32_t)v;
	}
	return HOSTS_NONE;
}

static int find_self(struct players *p, const struct players_asked *asked, struct fault *f)
{
	const char *named = asked->self ? asked->self : getenv("SLURMD_NODENAME"), *variable;
	char own[HOSTS_NAME_BYTES] = "", name[HOSTS_NAME_BYTES];
	uint32_t number = HOSTS_NONE;

	if (!named && gethostname(own, sizeof(own) - 1))
		own[0] = '\0';
	text_copy(name, sizeof(name), named ? named : own);
	p->self = hosts_find(&p->hosts, name);
	if (p->self == HOSTS_NONE && !asked->self)
		p->self = number = launcher_number(&variable);
	if (p->self < p->hosts.n)
		return 0;
	if (number != HOSTS_NONE)
		return fault_raise(f, FAULT_USAGE, 0, "%s is %u, and there are %u hosts", variable,
				   number, p->hosts.n);
	return fault_usage(f, "add it to --hosts, or say with --self which of them it is",
			   "this host, %s, is none of the %u hosts", name, p->hosts.n);
}

static int read_rails(struct players *p, const char *text, struct fault *f)
{
	p->rails = !text;
	while (text) {
		size_t n = strcspn(text, ",");

		if (p->rails == PLAYERS_RAILS_MAX || !n || n >= sizeof(p->rail[0]) ||
		    *text == '-') {
			fault_raise(f, FAULT_USAGE, 0, "--rails: not the names of devices");
			return fault_fix(f, "separate up to %d names with commas: mlx5_0,mlx5_1",
					 PLAYERS_RAILS_MAX);
		}
		text_copy(p->rail[p->rails], n + 1, text);
		for (unsigned i = 0; i < p->rails; i++)
			if (!strcmp(p->rail[i], p->rail[p->rails]))
				return fault_usage(f, "name each device once",
						   "--rails: %s is named twice", p->rail[i]);
		p->rails++;
		text = text[n] ? text + n + 1 : NULL;
	}
	return 0;
}

int players_find(struct players *p, const struct players_asked *asked, struct fault *f)
{
	*p = (struct players){.port = asked->port, .port_step = asked->port_step};
	if (read_rails(p, asked->rails, f) || find_hosts(p, asked, f) ||
	    hosts_complete(&p->hosts, f))
		return -1;
	return asked->anyone ? 0 : find_self(p, asked, f);
}

uint64_t players_port(const struct players *p, uint32_t host, unsigned rail, uint32_t lane)
{
	const struct host *h = &p->hosts.host[host];
	uint64_t first = h->port ? h->port : p->port + p->port_step * host;

	return first + (uint64_t)lane * p->rails + rail;
}

int players_check_ports(const struct players *p, uint32_t lanes, struct fault *f)
{
	for (uint32_t i = 0; i < p->hosts.n; i++) {
		uint64_t last = players_port(p, i, p->rails - 1, lanes - 1);

		if (last <= UINT16_MAX)
			continue;
		return fault_usage(f,
				   "use a smaller --port, --port-step, or port in the file of "
				   "hosts: 65535 is the last one",
				   "the servers of %s would need the ports to %llu",
				   p->hosts.host[i].name, (unsigned long long)last);
	}
	return 0;
}

const char *players_address(const struct players *p, uint32_t host)
{
	const struct host *h = &p->hosts.host[host];

	return h->address[0] ? h->address : h->name;
}

void players_release(struct players *p)
{
	hosts_release(&p->hosts);
	*p = (struct players){0};
}
