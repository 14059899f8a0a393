// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "explain/nccl.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "verbs/hca.h"

#define NCCL_DEVICES 32 /* NCCL uses no more ports */
#define ALIKE        0.99
/* of the fastest: a port of its kind with more of its rate is one to repair */
#define TRAINED_LOW 0.49

/* The index of the port in LIST that NETDEV belongs to; -1: none. */
static int port_of(const struct hca_list *list, const char *netdev)
{
	for (size_t i = 0; i < list->count; i++)
		if (!list->port[i].open_errno && hca_has_netdev(&list->port[i], netdev))
			return (int)i;
	return -1;
}

int nccl_facts_read(struct nccl_facts *x, const struct hca_list *list, const struct gpus *gpus,
		    struct fault *f)
{
	static const char *const filters[] = {
		"NCCL_IB_ADDR_FAMILY",
		"NCCL_IB_ADDR_RANGE",
		"NCCL_IB_ROCE_VERSION_NUM",
	};

	memset(x, 0, sizeof(*x));
	x->list = list;
	x->gpus = gpus;
	if (netdevs_read(&x->netdevs))
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "getifaddrs");
	for (size_t i = 0; i < x->netdevs.count; i++)
		x->netdev_port[i] = port_of(list, x->netdevs.list[i].name);
	for (unsigned i = 0; i < NCCL_VARIABLES; i++)
		x->set[i] = getenv(nccl_name(i));
	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
		x->gid_filtered |= getenv(filters[i]) != NULL;
	return 0;
}

/*
 * True if LIST, a value of NCCL_IB_HCA or NCCL_SOCKET_IFNAME, selects NAME and PORT (-1: any):
 * names or, without '=', their beginnings, with or without ":PORT", separated by commas; '^' before
 * them selects all others.
 */
static bool selects(const char *list, const char *name, int port)
{
	bool inverted = *list == '^', exact, found;

	list += inverted;
	exact = *list == '=';
	list += exact;
	found = !*list;
	while (*list) {
		size_t n = strcspn(list, ",:"), rest = strcspn(list, ",");

		if (n && strncmp(name, list, n) == 0 && (!exact || !name[n]) &&
		    (port < 0 || list[n] != ':' || strtol(list + n + 1, NULL, 10) == port))
			found = true;
		list += rest + (list[rest] == ',');
	}
	return found != inverted;
}

/* True if NCCL uses P unless it is told otherwise. An EFA needs a plugin, and is another story. */
static bool is_default(const struct hca_port *p)
{
	return !p->open_errno && p->fabric != FABRIC_EFA && p->port_attr.state == IBV_PORT_ACTIVE;
}

/* True if NCCL can use P well, except for its rate. */
static bool is_able(const struct hca_port *p, bool hardware)
{
	return is_default(p) && p->fabric != FABRIC_IWARP && !(hardware && hca_is_soft_roce(p));
}

/* In Gb/s; those of soft-RoCE, which are unknown, are alike. */
static double rate_of(const struct hca_port *p)
{
	return hca_is_soft_roce(p) ? 1 : hca_rate_gbps(p);
}

/* By what a port is chosen, see is_chosen(). */
struct chosen {
	enum fabric fabric; /* most of the rate is of its ports: one job uses one */
	bool hardware; /* some port is not soft-RoCE */
	double gbps;   /* of the fastest */
	const struct hca_port *fastest;
};

static struct chosen find_fastest(const struct hca_list *list)
{
	const struct hca_port *p = list->port;
	struct chosen c = {.fastest = NULL};
	double sum = 0; /* of RoCE, less that of InfiniBand */

	for (size_t i = 0; i < list->count; i++)
		c.hardware |= is_able(&p[i], false) && !hca_is_soft_roce(&p[i]);
	for (size_t i = 0; i < list->count; i++)
		if (is_able(&p[i], c.hardware))
			sum += p[i].fabric == FABRIC_ROCE ? rate_of(&p[i]) : -rate_of(&p[i]);
	c.fabric = sum > 0 ? FABRIC_ROCE : FABRIC_INFINIBAND;
	for (size_t i = 0; i < list->count; i++) {
		if (!is_able(&p[i], c.hardware) || p[i].fabric != c.fabric ||
		    rate_of(&p[i]) <= c.gbps)
			continue;
		c.gbps = rate_of(&p[i]);
		c.fastest = &p[i];
	}
	return c;
}

static bool is_chosen(const struct chosen *c, const struct hca_port *p)
{
	double share = c->gbps > 0 ? rate_of(p) / c->gbps : 0;

	return is_able(p, c->hardware) && c->fastest && p->fabric == c->fabric &&
	       (share >= ALIKE || (share > TRAINED_LOW && hca_are_alike(p, c->fastest)));
}

static const char *name_port(const struct hca_port *p, char buf[96])
{
	if (p->attr.phys_port_cnt > 1)
		snprintf(buf, 96, "%s port %u", p->device, p->port);
	else
		snprintf(buf, 96, "%s", p->device);
	return buf;
}

/* Add the reason why P is left out. */
static void add_reason(struct nccl_variable *v, const struct chosen *c, const struct hca_port *p)
{
	char name[96];

	text_add(v->reason, sizeof(v->reason), "%s%s ", v->reason[0] ? ", " : "",
		 name_port(p, name));
	if (p->fabric == FABRIC_IWARP)
		text_add(v->reason, sizeof(v->reason), "is iWARP, which NCCL does not support");
	else if (hca_is_soft_roce(p))
		text_add(v->reason, sizeof(v->reason), "is soft-RoCE");
	else if (hca_rate_gbps(p) >= ALIKE * c->gbps) /* so it is of the other kind */
		text_add(v->reason, sizeof(v->reason), "is %s", fabric_row(p->fabric)->link);
	else
		text_add(v->reason, sizeof(v->reason), "has %.4g Gb/s", hca_rate_gbps(p));
}

/* The ports to use, if NCCL would use others, too. */
static bool choose_hca(const struct nccl_facts *x, const struct chosen *c, struct nccl_variable *v)
{
	const char *set = x->set[NCCL_HCA];
	bool others = false, slower = false, is_set = set != NULL;
	size_t count = 0;

	if (!c->fastest) /* no port's rate is known */
		return false;
	for (size_t i = 0; i < x->list->count; i++) {
		const struct hca_port *p = &x->list->port[i];
		bool good = is_chosen(c, p);

		if (!is_default(p))
			continue;
		is_set = is_set && selects(set, p->device, p->port) == good;
		if (good) {
			text_add(v->value, sizeof(v->value), "%s%s:%u", count++ ? "," : "=",
				 p->device, p->port);
			continue;
		}
		others = true;
		slower |= is_able(p, c->hardware) && hca_rate_gbps(p) < ALIKE * c->gbps;
		add_reason(v, c, p);
	}
	if (slower)
		text_add(v->reason, sizeof(v->reason), ", %s %.4g",
			 count > 1 ? "the others up to" : c->fastest->device, c->gbps);
	return others && count && count <= NCCL_DEVICES &&
	       strlen(v->value) + 1 < sizeof(v->value) && !is_set;
}

/*
 * The GID that NCCL chooses for a RoCE port: of those with an IPv4 address the first of RoCE v2, or
 * of v1; without any, the first entry of the table.
 */
static const struct gid *find_nccl_gid(const struct hca_port *p)
{
	const struct gid *best = NULL;

	for (size_t i = 0; i < p->gid_count; i++) {
		const struct gid *g = &p->gids[i];
		bool mapped = IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)g->raw.raw);

		if (g->index == 0 && !best)
			best = g;
		else if (mapped && (!best || best->kind != GID_V2_IPV4) &&
			 (g->kind == GID_V2_IPV4 || !best ||
			  !IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)best->raw.raw)))
			best = g;
	}
	return best;
}

/* The GID of a RoCE port that can be routed; NULL: none. */
static const struct gid *find_routed_gid(const struct hca_port *p)
{
	const struct gid *g = gid_pick(p->gids, p->gid_count, GID_V2_IPV4, NULL);

	return g ? g : gid_pick(p->gids, p->gid_count, GID_V2_IPV6, NULL);
}

/* True if the text INDEX is that of a GID of P that can be routed. */
static bool is_routed(const struct hca_port *p, const char *index)
{
	for (size_t i = 0; i < p->gid_count; i++)
		if (p->gids[i].index == strtol(index, NULL, 10) && p->gids[i].kind <= GID_V2_IPV6)
			return true;
	return false;
}

/* The index of the GIDs of all chosen ports, if NCCL would use others. */
static bool choose_gid(const struct nccl_facts *x, const struct chosen *c, struct nccl_variable *v)
{
	const char *set = x->set[NCCL_GID_INDEX];
	bool is_set = set != NULL;
	int index = -1;
	char name[96];

	for (size_t i = 0; i < x->list->count; i++) {
		const struct hca_port *p = &x->list->port[i];
		const struct gid *ours, *theirs;

		if (!is_chosen(c, p) || p->fabric != FABRIC_ROCE)
			continue;
		ours = find_routed_gid(p);
		theirs = find_nccl_gid(p);
		if (!ours || (index >= 0 && ours->index != index))
			return false; /* the variable is the same for all */
		index = ours->index;
		is_set = is_set && is_routed(p, set);
		if (ours == theirs || v->reason[0])
			continue;
		snprintf(v->reason, sizeof(v->reason),
			 "it is the first %s GID of %s, and NCCL would use %d%s%s%s",
			 gid_kind_name(ours->kind), name_port(p, name), theirs ? theirs->index : 0,
			 theirs ? " (" : "", theirs ? gid_kind_name(theirs->kind) : "",
			 theirs ? ")" : "");
	}
	snprintf(v->value, sizeof(v->value), "%d", index);
	return v->reason[0] && !x->gid_filtered && !is_set;
}

/* The interface that NCCL uses for its sockets if LIST is what it is told; -1: none. */
static int find_interface(const struct netdevs *n, const char *list)
{
	for (size_t i = 0; i < n->count; i++)
		if (selects(list, n->list[i].name, -1))
			return (int)i;
	return -1;
}

/* The one that NCCL uses: what is set, or InfiniBand's, or any real one. */
static int find_nccl_interface(const struct nccl_facts *x)
{
	const char *set = x->set[NCCL_IFNAME];
	int at;

	if (set && strlen(set) > 1)
		return find_interface(&x->netdevs, set);
	at = find_interface(&x->netdevs, "ib");
	return at >= 0 ? at : find_interface(&x->netdevs, "^docker,lo,virbr");
}

/* True if the interface AT of X belongs to a chosen port. */
static bool is_of_chosen(const struct nccl_facts *x, const struct chosen *c, size_t at)
{
	return x->netdev_port[at] >= 0 && is_chosen(c, &x->list->port[x->netdev_port[at]]);
}

/* Another interface for the sockets, if NCCL would use one of a chosen port. */
static bool choose_interface(const struct nccl_facts *x, const struct chosen *c,
			     struct nccl_variable *v)
{
	int theirs = find_nccl_interface(x);
	char name[96];

	if (theirs < 0 || !is_of_chosen(x, c, (size_t)theirs))
		return false;
	for (size_t i = 0; i < x->netdevs.count; i++) {
		const struct netdev *n = &x->netdevs.list[i];

		if (!n->routable || !n->hardware || is_of_chosen(x, c, i))
			continue;
		snprintf(v->value, sizeof(v->value), "=%s", n->name);
		snprintf(v->reason, sizeof(v->reason),
			 "NCCL would connect over %s, the interface of %s",
			 x->netdevs.list[theirs].name,
			 name_port(&x->list->port[x->netdev_port[theirs]], name));
		return true;
	}
	return false;
}

/* A larger distance, if NCCL would not use GPUDirect RDMA for a GPU, and it is plausible there. */
static bool choose_distance(const struct nccl_facts *x, const struct chosen *c,
			    struct nccl_variable *v)
{
	const char *set = x->set[NCCL_GDR_LEVEL];
	bool is_set = set && (strcmp(set, "PHB") == 0 || strcmp(set, "SYS") == 0 ||
			      strtol(set, NULL, 10) >= 3); /* an older form */
	const struct nvidia *gpus = &x->gpus->nvidia;
	bool chosen[GPUS_PORTS];
	char name[96];

	for (size_t i = 0; i < x->list->count && i < GPUS_PORTS; i++)
		chosen[i] = is_chosen(c, &x->list->port[i]);
	/* Without a route to GPU memory the level does not matter. */
	if (x->gpus->coherent || is_set || (gpus->closed && !gpus->peermem))
		return false;
	for (unsigned i = 0; i < gpus->gpus; i++) {
		int port = gpus_nearest(x->gpus, i, chosen, x->list->count);
		enum path_class class = port < 0 ? PATH_UNKNOWN : x->gpus->class[i][port];

		if ((class != PATH_PHB && class != PATH_NODE) || x->gpus->translated[port])
			continue;
		snprintf(v->value, sizeof(v->value), "PHB");
		snprintf(v->reason, sizeof(v->reason),
			 "%s and GPU %s are connected %s (%s), and NCCL uses GPUDirect RDMA up to "
			 "PXB; measure it first with gdr_bw",
			 name_port(&x->list->port[port], name), gpus->gpu[i],
			 path_class_words(class), path_class_name(class));
		return true;
	}
	return false;
}

/* Add what the environment has instead: anything, of which only ASCII is shown. */
static void add_environment(struct nccl_variable *v, const char *set)
{
	char text[64];

	snprintf(text, sizeof(text), "%s", set);
	for (char *at = text; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
	text_add(v->reason, sizeof(v->reason), "; the environment has \"%s\"", text);
}

static const struct {
	const char *name;
	bool (*choose)(const struct nccl_facts *x, const struct chosen *c, struct nccl_variable *v);
} variables[NCCL_VARIABLES] = {
	[NCCL_HCA] = {"NCCL_IB_HCA", choose_hca},
	[NCCL_GID_INDEX] = {"NCCL_IB_GID_INDEX", choose_gid},
	[NCCL_IFNAME] = {"NCCL_SOCKET_IFNAME", choose_interface},
	[NCCL_GDR_LEVEL] = {"NCCL_NET_GDR_LEVEL", choose_distance},
};

const char *nccl_name(enum nccl_name name)
{
	return variables[name].name;
}

size_t nccl_variables(const struct nccl_facts *x, struct nccl_variable to[NCCL_VARIABLES])
{
	struct chosen c = find_fastest(x->list);
	size_t count = 0;

	for (unsigned i = 0; i < NCCL_VARIABLES; i++) {
		struct nccl_variable *v = &to[count];

		memset(v, 0, sizeof(*v));
		v->name = nccl_name(i);
		if (!variables[i].choose(x, &c, v))
			continue;
		count++;
		if (x->set[i])
			add_environment(v, x->set[i]);
	}
	return count;
}

json_t *nccl_to_json(const struct nccl_variable *v)
{
	return json_pack("{s:s, s:s, s:s}", "variable", v->name, "value", v->value, "reason",
			 v->reason);
}
