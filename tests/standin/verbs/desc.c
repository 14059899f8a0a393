// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "desc.h"
#include "desc_word.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * As on a new RoCE card whose netdev has 127.0.0.1 and ::1: v1 before v2, the
 * link-local pair first.
 */
static const char default_text[] =
	"sim0 gid.0=v1/fe80::200:ff:fe00:1 gid.1=v2/fe80::200:ff:fe00:1 "
	"gid.2=v1/::1 gid.3=v2/::1 gid.4=v1/127.0.0.1 gid.5=v2/127.0.0.1";

static void dev_defaults(struct desc_dev *d, int index)
{
	int p;

	*d = (struct desc_dev){
		.guid = 0x0200000000ff0001 + ((uint64_t)index << 4),
		.pcie_speed = "32.0 GT/s PCIe",
		.pcie_width = 16,
		.fw = "1.0.0",
		.vendor = 0x02c9,
		.part = 4129,
		.numa = -1,
		.nports = 1,
		.nvectors = 4,
		.features = DESC_ALL & ~(DESC_GRH | DESC_GPU_BLOCKED | DESC_ODP | DESC_IWARP |
					 DESC_EFA | DESC_XRC | DESC_LAST_HEADER),
		.max_msg = UINT64_C(1) << 31,
		.max_mr = UINT64_C(1) << 40,
		.max_inline = 512,
		.max_qp = 16000,
		.max_depth = 32768,
		.max_sge = 30,
		.max_cq = 16000,
		.max_cqe = 1 << 22,
		.max_mrs = 65000,
		.max_rd = 16,
		.max_init_rd = -1,
		.max_srq = 4000,
		.efa_caps = 0xb, /* READ, RNR retry, WRITE */
		.max_rdma = UINT64_C(1) << 30,
	};
	snprintf(d->pci, sizeof(d->pci), "0000:%02x:00.0", 0x3b + index);
	for (p = 0; p < DESC_PORTS; p++)
		d->port[p] = (struct desc_port){
			.ethernet = true,
			.state = 4,
			.phys_state = -1, /* what fits the state */
			.mtu = 4096,
			.max_mtu = 4096,
			.speed = 32,
			.width = 4,
			.ngids = 16,
			.pkey = 0xffff,
		};
}

/* An Elastic Fabric Adapter, where the description does not say otherwise. */
static void efa_finish(struct desc_dev *d)
{
	struct desc_dev usual;

	dev_defaults(&usual, 0);
	d->features &= ~(DESC_ATOMICS | DESC_SRQ | DESC_ODP | DESC_GRH | DESC_CQ_OVERRUN |
			 DESC_IWARP | DESC_XRC);
	if (d->vendor == usual.vendor)
		d->vendor = 0x1d0f;
	if (d->part == usual.part)
		d->part = 0xefa1;
	if (d->max_msg == usual.max_msg)
		d->max_msg = 8928;
	if (d->max_inline == usual.max_inline)
		d->max_inline = 32;
	if (d->max_sge == usual.max_sge)
		d->max_sge = 2;
	for (int i = 0; i < DESC_PORTS; i++) {
		d->port[i].ethernet = false;
		d->port[i].unspecified = true;
		d->port[i].ngids = 1;
		d->port[i].pkey1 = 0;
	}
}

/* What follows from the rest: how many READs it has under way, an IB port's GID 0. */
static void dev_finish(struct desc_dev *d)
{
	struct desc_port *p;
	int i;

	if (d->nports < 1 || d->nports > DESC_PORTS)
		d->nports = d->nports < 1 ? 1 : DESC_PORTS;
	if (d->max_init_rd < 0)
		d->max_init_rd = d->max_rd;
	if (d->features & DESC_EFA)
		efa_finish(d);
	if (d->features & DESC_IWARP) /* whose wire has none */
		d->features &= ~DESC_ATOMICS;
	for (i = 0; i < d->nports; i++) {
		p = &d->port[i];
		if (p->phys_state < 0)
			p->phys_state = p->state >= 2 ? 5 : p->ethernet ? 3 : 2;
		if (!p->ethernet && !p->gid[0].version) {
			uint64_t guid = htobe64(d->guid + i);

			p->gid[0].version = 1;
			p->gid[0].raw[0] = 0xfe;
			p->gid[0].raw[1] = 0x80;
			memcpy(p->gid[0].raw + 8, &guid, 8);
		}
	}
}

/* The clone's own addresses: the last byte of each GID, the netdev's number. */
static void clone_port(struct desc_dev *dst, struct desc_port *p, int i)
{
	uint64_t guid = htobe64(dst->guid + (p - dst->port));
	char *num = p->netdev;
	int g;

	if (p->lid)
		p->lid += i;
	for (g = 0; g < p->ngids; g++)
		if (p->gid[g].version)
			p->gid[g].raw[15] += i;
	if (!p->ethernet)
		memcpy(p->gid[0].raw + 8, &guid, 8);
	num += strcspn(num, "0123456789");
	if (*p->netdev)
		snprintf(num, sizeof(p->netdev) - (num - p->netdev), "%d", atoi(num) + i);
}

/* "NAME count=N" makes NAME0 to NAMEN-1, each with its own PCI, GUID, LID. */
static void dev_clone(struct desc *d, int first, int count)
{
	struct desc_dev *src = &d->dev[first], *dst;
	char base[48];
	int i, p;

	snprintf(base, sizeof(base), "%.47s", src->name);
	for (i = 0; i < count && first + i < DESC_DEVS; i++) {
		dst = &d->dev[first + i];
		if (i)
			*dst = *src;
		snprintf(dst->name, sizeof(dst->name), "%s%d", base, i);
		if (i) {
			dst->guid = src->guid + 16 * i;
			snprintf(dst->pci, sizeof(dst->pci), "0000:%02x:00.0", 0x3b + first + i);
		}
		for (p = 0; p < DESC_PORTS && i; p++)
			clone_port(dst, &dst->port[p], i);
		d->ndev = first + i + 1;
	}
}

static int parse_line(struct desc *d, char *line)
{
	char *save, *word = strtok_r(line, " \t\r", &save);
	struct desc_dev *dev;
	int count = 0, first = d->ndev;

	if (!word || *word == '#')
		return 0;
	if (d->ndev >= DESC_DEVS) {
		fprintf(stderr, "simverbs: more than %d devices\n", DESC_DEVS);
		return -1;
	}
	dev = &d->dev[d->ndev++];
	dev_defaults(dev, first);
	snprintf(dev->name, sizeof(dev->name), "%s", word);
	while ((word = strtok_r(NULL, " \t\r", &save))) {
		if (!strncmp(word, "count=", 6)) {
			count = atoi(word + 6);
		} else if (desc_word(dev, word)) {
			fprintf(stderr,
				"simverbs: device '%s': cannot use "
				"'%s'\n",
				dev->name, word);
			return -1;
		}
	}
	dev_finish(dev);
	if (count > 0)
		dev_clone(d, first, count);
	return 0;
}

static char *read_file(const char *path)
{
	char *text = calloc(1, 65536);
	FILE *f = fopen(path, "re");

	if (!f || !text || !fread(text, 1, 65535, f)) {
		fprintf(stderr, "simverbs: %s: %s\n", path, strerror(errno));
		free(text);
		text = NULL;
	}
	if (f)
		fclose(f);
	return text;
}

int desc_load(struct desc *d, const char *text)
{
	char *copy, *line, *save;
	int rc = 0;

	memset(d, 0, sizeof(*d));
	if (!text)
		text = default_text;
	if (*text == '/' || *text == '.')
		copy = read_file(text);
	else
		copy = strdup(text);
	if (!copy)
		return -1;
	for (line = strtok_r(copy, ";\n", &save); line && !rc; line = strtok_r(NULL, ";\n", &save))
		rc = parse_line(d, line);
	free(copy);
	return rc;
}
