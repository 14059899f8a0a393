// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One word of a device's description: KEY=VALUE, FLAG or noFLAG. */
#include "desc.h"
#include "desc_word.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct name_value {
	const char *name;
	int value;
	double gbps;
};

static const struct name_value speeds[] = {
	{"SDR", 1, 2.5},      {"DDR", 2, 5},
	{"QDR", 4, 10},       {"FDR10", 8, 10.3125},
	{"FDR", 16, 14.0625}, {"EDR", 32, 25},
	{"HDR", 64, 50},      {"NDR", 128, 100},
	{"XDR", 256, 200},    {0},
};
static const struct name_value states[] = {
	{"NOP", 0, 0},
	{"DOWN", 1, 0},
	{"INIT", 2, 0},
	{"ARMED", 3, 0},
	{"ACTIVE", 4, 0},
	{"ACTIVE_DEFER", 5, 0},
	{0},
};
static const struct name_value physical[] = {
	{"Sleep", 1, 0},
	{"Polling", 2, 0},
	{"Disabled", 3, 0},
	{"Training", 4, 0},
	{"LinkUp", 5, 0},
	{"ErrorRecovery", 6, 0},
	{"Test", 7, 0},
	{0},
};
static const struct name_value features[] = {
	{"qpex", DESC_QPEX, 0},
	{"cqex", DESC_CQEX, 0},
	{"dmabuf", DESC_DMABUF, 0},
	{"srq", DESC_SRQ, 0},
	{"atomics", DESC_ATOMICS, 0},
	{"relaxed", DESC_RELAXED, 0},
	{"grh", DESC_GRH, 0},
	{"devex", DESC_DEVEX, 0},
	{"ignore_overrun", DESC_CQ_OVERRUN, 0},
	{"peermem", DESC_PEERMEM, 0},
	{"gpublocked", DESC_GPU_BLOCKED, 0},
	{"odp", DESC_ODP, 0},
	{"iwarp", DESC_IWARP, 0},
	{"efa", DESC_EFA, 0},
	{"xrc", DESC_XRC, 0},
	{"td", DESC_TD, 0},
	{"lastheader", DESC_LAST_HEADER, 0},
	{0},
};

enum key_type {
	KEY_INT,
	KEY_SIZE,
	KEY_GUID,
	KEY_TEXT,
	KEY_GTS,
	KEY_SPEED,
	KEY_STATE,
	KEY_PHYSICAL
};

#define DEV(n, t, f)                                                                         \
	{                                                                                    \
		n, t, false, offsetof(struct desc_dev, f), sizeof(((struct desc_dev *)0)->f) \
	}
#define PORT(n, t, f)                                                                         \
	{                                                                                     \
		n, t, true, offsetof(struct desc_port, f), sizeof(((struct desc_port *)0)->f) \
	}

static const struct key {
	const char *name;
	enum key_type type;
	bool port;
	size_t off, size;
} keys[] = {
	DEV("pci", KEY_TEXT, pci),
	DEV("fw", KEY_TEXT, fw),
	DEV("pcie_gts", KEY_GTS, pcie_speed),
	DEV("pcie_width", KEY_INT, pcie_width),
	DEV("guid", KEY_GUID, guid),
	DEV("image", KEY_GUID, image),
	DEV("vendor", KEY_INT, vendor),
	DEV("part", KEY_INT, part),
	DEV("hw", KEY_INT, hw),
	DEV("numa", KEY_INT, numa),
	DEV("ports", KEY_INT, nports),
	DEV("vectors", KEY_INT, nvectors),
	DEV("max_msg", KEY_SIZE, max_msg),
	DEV("max_mr", KEY_SIZE, max_mr),
	DEV("inline", KEY_INT, max_inline),
	DEV("max_qp", KEY_INT, max_qp),
	DEV("max_depth", KEY_INT, max_depth),
	DEV("max_sge", KEY_INT, max_sge),
	DEV("max_cq", KEY_INT, max_cq),
	DEV("max_cqe", KEY_INT, max_cqe),
	DEV("max_mrs", KEY_INT, max_mrs),
	DEV("max_rd", KEY_INT, max_rd),
	DEV("max_init_rd", KEY_INT, max_init_rd),
	DEV("max_srq", KEY_INT, max_srq),
	DEV("efa_caps", KEY_INT, efa_caps),
	DEV("max_rdma", KEY_SIZE, max_rdma),
	DEV("shuffle", KEY_INT, shuffle),
	DEV("gpu_fall_kb", KEY_INT, gpu_fall_kb),
	DEV("gpu_fall_mbps", KEY_INT, gpu_fall_mbps),
	DEV("gpu_read_mbps", KEY_INT, gpu_read_mbps),
	DEV("gpu_write_mbps", KEY_INT, gpu_write_mbps),
	DEV("host_mbps", KEY_INT, host_mbps),
	DEV("far_mbps", KEY_INT, far_mbps),
	PORT("state", KEY_STATE, state),
	PORT("phys_state", KEY_PHYSICAL, phys_state),
	PORT("lid", KEY_INT, lid),
	PORT("sm_lid", KEY_INT, sm_lid),
	PORT("lmc", KEY_INT, lmc),
	PORT("mtu", KEY_INT, mtu),
	PORT("max_mtu", KEY_INT, max_mtu),
	PORT("speed", KEY_SPEED, speed),
	PORT("width", KEY_INT, width),
	PORT("gids", KEY_INT, ngids),
	PORT("pkey", KEY_INT, pkey),
	PORT("pkey1", KEY_INT, pkey1),
	PORT("netdev", KEY_TEXT, netdev),
};

static const struct name_value *find_name(const struct name_value *t, const char *name)
{
	for (; t->name; t++)
		if (!strcasecmp(t->name, name))
			return t;
	return NULL;
}

static const struct name_value *find_speed(int speed)
{
	const struct name_value *t = speeds;

	while (t->name && t->value != speed)
		t++;
	return t;
}

const char *desc_speed_name(int speed)
{
	return find_speed(speed)->name ? find_speed(speed)->name : "?";
}

double desc_lane_gbps(int speed)
{
	return find_speed(speed)->gbps;
}

static int parse_size(const char *s, uint64_t *v)
{
	char *end;

	errno = 0;
	*v = strtoull(s, &end, 0);
	if (errno || end == s)
		return -1;
	switch (*end) {
	case 'g':
	case 'G':
		*v <<= 10; /* fallthrough */
	case 'm':
	case 'M':
		*v <<= 10; /* fallthrough */
	case 'k':
	case 'K':
		*v <<= 10;
		end++;
	}
	return *end ? -1 : 0;
}

static int set_key(const struct key *k, void *base, const char *value)
{
	void *field = (char *)base + k->off;
	const struct name_value *nv;
	uint64_t v;

	switch (k->type) {
	case KEY_TEXT:
		snprintf(field, k->size, "%s", value);
		return 0;
	case KEY_GTS:
		snprintf(field, k->size, "%s GT/s PCIe", value);
		return 0;
	case KEY_GUID:
		*(uint64_t *)field = strtoull(value, NULL, 16);
		return 0;
	case KEY_SPEED:
	case KEY_STATE:
	case KEY_PHYSICAL:
		nv = find_name(k->type == KEY_SPEED   ? speeds
			       : k->type == KEY_STATE ? states
						      : physical,
			       value);
		if (!nv)
			return -1;
		*(int *)field = nv->value;
		return 0;
	default:
		if (!strcmp(value, "-1")) {
			*(int *)field = -1;
			return 0;
		}
		if (parse_size(value, &v))
			return -1;
		if (k->type == KEY_SIZE)
			*(uint64_t *)field = v;
		else
			*(int *)field = v;
		return 0;
	}
}

/* gid.INDEX=[v1/|v2/|ib/]ADDRESS[/NETDEV] */
static int set_gid(struct desc_port *p, const char *index, char *value)
{
	unsigned long i = strtoul(index, NULL, 10);
	struct desc_gid *g = &p->gid[i % DESC_GIDS];
	char *addr = value, *slash;
	struct in_addr v4;

	if (i >= DESC_GIDS)
		return -1;
	memset(g, 0, sizeof(*g));
	g->version = p->ethernet ? 2 : 1;
	if (!strncmp(value, "v1/", 3) || !strncmp(value, "v2/", 3) || !strncmp(value, "ib/", 3)) {
		g->version = value[1] == '2' ? 2 : 1;
		addr += 3;
	}
	slash = strchr(addr, '/');
	if (slash) {
		*slash = 0;
		snprintf(g->netdev, sizeof(g->netdev), "%s", slash + 1);
	}
	if ((int)i >= p->ngids)
		p->ngids = i + 1;
	if (inet_pton(AF_INET, addr, &v4) == 1) {
		g->raw[10] = g->raw[11] = 0xff;
		memcpy(g->raw + 12, &v4, 4);
		return 0;
	}
	return inet_pton(AF_INET6, addr, g->raw) == 1 ? 0 : -1;
}

static int set_flag(struct desc_dev *d, const char *word)
{
	bool off = !strncmp(word, "no", 2);
	const struct name_value *f = find_name(features, word + 2 * off);

	if (!f)
		return -1;
	if (off)
		d->features &= ~f->value;
	else
		d->features |= f->value;
	return 0;
}

/* One word of a line; pN. before a key means port N, else all ports. */
int desc_word(struct desc_dev *d, char *word)
{
	char *value = strchr(word, '=');
	int first = 0, last = DESC_PORTS - 1, p, rc = 0;
	char copy[128];
	size_t i;

	if (!value)
		return set_flag(d, word);
	*value++ = 0;
	if (word[0] == 'p' && (word[1] == '1' || word[1] == '2') && word[2] == '.') {
		first = last = word[1] - '1';
		word += 3;
	}
	for (p = first; p <= last; p++) {
		snprintf(copy, sizeof(copy), "%s", value);
		if (!strcmp(word, "link"))
			d->port[p].ethernet = !strncasecmp(value, "eth", 3);
		else if (!strncmp(word, "gid.", 4))
			rc |= set_gid(&d->port[p], word + 4, copy);
	}
	if (!strcmp(word, "link") || !strncmp(word, "gid.", 4))
		return rc;
	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		if (strcmp(keys[i].name, word))
			continue;
		if (!keys[i].port)
			return set_key(&keys[i], d, value);
		for (p = first; p <= last; p++)
			rc |= set_key(&keys[i], &d->port[p], value);
		return rc;
	}
	return -1;
}
