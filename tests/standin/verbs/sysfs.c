// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sysfs.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	PATH = 512
};

/* A directory being filled; the first failure sticks. */
struct node {
	char path[PATH];
	int err;
};

static int make_dirs(const char *path)
{
	char copy[PATH], *p;

	snprintf(copy, sizeof(copy), "%s", path);
	for (p = copy + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = 0;
		if (mkdir(copy, 0755) && errno != EEXIST)
			return -1;
	}
	return mkdir(copy, 0755) && errno != EEXIST ? -1 : 0;
}

static struct node node_at(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static struct node node_at(const char *fmt, ...)
{
	struct node n = {.err = 0};
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(n.path, sizeof(n.path), fmt, ap);
	va_end(ap);
	n.err = make_dirs(n.path);
	if (n.err)
		fprintf(stderr, "simverbs-sysfs: %s: %s\n", n.path, strerror(errno));
	return n;
}

static void put(struct node *n, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void put(struct node *n, const char *name, const char *fmt, ...)
{
	char path[PATH + 64];
	va_list ap;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", n->path, name);
	f = fopen(path, "we");
	if (!f) {
		fprintf(stderr, "simverbs-sysfs: %s: %s\n", path, strerror(errno));
		n->err = -1;
		return;
	}
	va_start(ap, fmt);
	vfprintf(f, fmt, ap);
	va_end(ap);
	fputc('\n', f);
	fclose(f);
}

static void link_to(struct node *n, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void link_to(struct node *n, const char *name, const char *fmt, ...)
{
	char path[PATH + 64], target[PATH];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(target, sizeof(target), fmt, ap);
	va_end(ap);
	snprintf(path, sizeof(path), "%s/%s", n->path, name);
	unlink(path);
	if (symlink(target, path)) {
		fprintf(stderr, "simverbs-sysfs: %s: %s\n", path, strerror(errno));
		n->err = -1;
	}
}

static void gid_text(char *out, const uint8_t *raw)
{
	int i;

	for (i = 0; i < 16; i += 2)
		out += sprintf(out, "%s%02x%02x", i ? ":" : "", raw[i], raw[i + 1]);
}

static int write_gids(const char *port, const struct desc_port *p)
{
	struct node gids = node_at("%s/gids", port);
	struct node types = node_at("%s/gid_attrs/types", port);
	struct node ndevs = node_at("%s/gid_attrs/ndevs", port);
	char name[16], text[48];
	int i;

	for (i = 0; i < p->ngids && !gids.err; i++) {
		const struct desc_gid *g = &p->gid[i];
		const char *nd = g->netdev[0] ? g->netdev : p->netdev;

		snprintf(name, sizeof(name), "%d", i);
		gid_text(text, g->raw);
		put(&gids, name, "%s", text);
		/* the kernel refuses to read these of an empty entry */
		if (!g->version)
			continue;
		put(&types, name, "%s", g->version == 2 ? "RoCE v2" : "IB/RoCE v1");
		if (*nd)
			put(&ndevs, name, "%s", nd);
	}
	return gids.err | types.err | ndevs.err;
}

static int write_counters(const char *port)
{
	static const char *const names[] = {
		"port_xmit_data",   "port_rcv_data",      "port_xmit_packets",
		"port_rcv_packets", "symbol_error",       "link_downed",
		"port_rcv_errors",  "port_xmit_discards", "port_xmit_wait",
	};
	struct node c = node_at("%s/counters", port);
	struct node h = node_at("%s/hw_counters", port);
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		put(&c, names[i], "0");
	put(&h, "out_of_sequence", "0");
	put(&h, "rnr_nak_retry_err", "0");
	put(&h, "local_ack_timeout_err", "0");
	return c.err | h.err;
}

/* What an EFA counts: all of it by the driver, nothing by the port. */
static int write_efa_counters(const char *port)
{
	static const char *const names[] = {
		"tx_bytes", "tx_pkts", "rx_bytes", "rx_pkts", "rx_drops", "send_bytes", "send_wrs",
		"recv_bytes", "recv_wrs", "rdma_read_wrs", "rdma_read_bytes", "rdma_read_wr_err",
		"rdma_read_resp_bytes", "rdma_write_wrs", "rdma_write_bytes", "rdma_write_wr_err",
		"rdma_write_recv_bytes", "retrans_bytes", "retrans_pkts", "retrans_timeout_events",
		"unresponsive_remote_events", "impaired_remote_conn_events", "lifespan",
	};
	struct node h = node_at("%s/hw_counters", port);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		put(&h, names[i], strcmp(names[i], "lifespan") ? "0" : "12");
	return h.err;
}

static int write_port(const char *ibdev, int n, const struct desc_port *p)
{
	static const char *const states[] = {
		"NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER",
	};
	static const char *const phys[] = {
		"", "Sleep", "Polling", "Disabled", "PortConfigurationTraining", "LinkUp",
		"LinkErrorRecovery", "Phy Test",
	};
	struct node d = node_at("%s/ports/%d", ibdev, n);
	struct node pkeys;

	if (d.err)
		return -1;
	put(&d, "state", "%d: %s", p->state, states[p->state]);
	put(&d, "phys_state", "%d: %s", p->phys_state, phys[p->phys_state]);
	put(&d, "rate", "%g Gb/sec (%dX %s)", desc_lane_gbps(p->speed) * p->width, p->width,
	    desc_speed_name(p->speed));
	put(&d, "lid", "0x%x", p->lid);
	put(&d, "sm_lid", "0x%x", p->sm_lid);
	put(&d, "sm_sl", "%d", p->sl);
	put(&d, "lid_mask_count", "%d", p->lmc);
	put(&d, "cap_mask", "0x00010000");
	put(&d, "link_layer", "%s",
	    p->unspecified ? "Unknown"
	    : p->ethernet  ? "Ethernet"
			   : "InfiniBand");
	pkeys = node_at("%s/pkeys", d.path);
	put(&pkeys, "0", "0x%04x", p->pkey);
	if (!p->unspecified)
		put(&pkeys, "1", "0x%04x", p->pkey1);
	return d.err | pkeys.err | write_gids(d.path, p) |
	       (p->unspecified ? write_efa_counters(d.path) : write_counters(d.path));
}

static const char *guid_text(char text[32], unsigned long long g)
{
	snprintf(text, 32, "%04llx:%04llx:%04llx:%04llx", g >> 48, g >> 32 & 0xffff,
		 g >> 16 & 0xffff, g & 0xffff);
	return text;
}

static int write_ibdev(const char *pci, const struct desc_dev *d)
{
	struct node n = node_at("%s/infiniband/%s", pci, d->name);
	char guid[32];
	int i, err;

	if (n.err)
		return -1;
	put(&n, "node_guid", "%s", guid_text(guid, d->guid));
	put(&n, "sys_image_guid", "%s", guid_text(guid, d->image ? d->image : d->guid));
	put(&n, "node_type", d->features & DESC_EFA     ? "7: unspecified"
			       : d->features & DESC_IWARP ? "4: RNIC"
							  : "1: CA");
	put(&n, "node_desc", "simverbs %s", d->name);
	put(&n, "fw_ver", "%s", d->fw);
	put(&n, "hca_type", "SIM%d", d->part);
	put(&n, "hw_rev", "%x", d->hw);
	put(&n, "board_id", "SIM0000000001");
	link_to(&n, "device", "../..");
	err = n.err;
	for (i = 0; i < d->nports; i++)
		err |= write_port(n.path, i + 1, &d->port[i]);
	return err;
}

static int write_netdev(const char *root, const char *bus, const char *pci,
			const struct desc_dev *d, int port)
{
	const struct desc_port *p = &d->port[port];
	struct node n = node_at("%s/%s/%s/net/%s", root, bus, pci, p->netdev);
	struct node class = node_at("%s/class/net", root);

	if (n.err || class.err)
		return -1;
	put(&n, "address", "02:00:00:00:%02x:%02x", port, (unsigned int)d->guid & 0xff);
	put(&n, "operstate", p->state == 4 ? "up" : "down");
	put(&n, "carrier", p->state == 4 ? "1" : "0");
	put(&n, "mtu", "%d", p->ethernet ? 9000 : 2044);
	put(&n, "speed", "%d", (int)(desc_lane_gbps(p->speed) * p->width * 1000));
	put(&n, "dev_port", "%d", port);
	put(&n, "dev_id", "0x%x", port);
	put(&n, "type", p->ethernet ? "1" : "32");
	link_to(&n, "device", "../..");
	link_to(&class, p->netdev, "../../%s/%s/net/%s", bus, pci, p->netdev);
	return n.err | class.err;
}

static int write_pci(struct node *n, const struct desc_dev *d)
{
	put(n, "vendor", "0x%04x", d->vendor == 0x02c9 ? 0x15b3 : d->vendor);
	put(n, "device", "0x%04x", d->part);
	put(n, "class", d->port[0].ethernet ? "0x020000" : "0x020700");
	put(n, "numa_node", "%d", d->numa);
	put(n, "local_cpulist", "0-%ld", sysconf(_SC_NPROCESSORS_ONLN) - 1);
	put(n, "current_link_speed", "%s", d->pcie_speed);
	put(n, "max_link_speed", "%s", d->pcie_speed);
	put(n, "current_link_width", "%d", d->pcie_width);
	put(n, "max_link_width", "%d", d->pcie_width);
	put(n, "uevent", "DRIVER=%s\nPCI_SLOT_NAME=%s", d->features & DESC_EFA ? "efa" : "sim", d->pci);
	return n->err;
}

static int write_device(const char *root, const struct desc_dev *d, int index)
{
	struct node ib = node_at("%s/class/infiniband", root);
	struct node verbs = node_at("%s/class/infiniband_verbs", root);
	struct node busdir = node_at("%s/bus/pci/devices", root);
	struct node pci, uv;
	char bus[64], name[32];
	int i, err;

	/* the first seven letters of the address: the domain and bus */
	snprintf(bus, sizeof(bus), "devices/pci%.7s", d->pci);
	pci = node_at("%s/%s/%s", root, bus, d->pci);
	snprintf(name, sizeof(name), "uverbs%d", index);
	uv = node_at("%s/infiniband_verbs/%s", pci.path, name);
	if (ib.err | verbs.err | busdir.err | pci.err | uv.err)
		return -1;
	err = write_pci(&pci, d) | write_ibdev(pci.path, d);
	put(&uv, "ibdev", "%s", d->name);
	put(&uv, "dev", "231:%d", 192 + index);
	put(&uv, "abi_version", "1");
	link_to(&uv, "device", "../..");
	link_to(&ib, d->name, "../../%s/%s/infiniband/%s", bus, d->pci, d->name);
	link_to(&verbs, name, "../../%s/%s/infiniband_verbs/%s", bus, d->pci, name);
	link_to(&busdir, d->pci, "../../../%s/%s", bus, d->pci);
	for (i = 0; i < d->nports; i++)
		if (d->port[i].netdev[0])
			err |= write_netdev(root, bus, d->pci, d, i);
	put(&verbs, "abi_version", "6");
	return err | ib.err | verbs.err | busdir.err | uv.err;
}

int sysfs_write(const char *dir, const struct desc *d)
{
	struct node root = node_at("%s/class/infiniband", dir);
	int i, err = root.err;

	for (i = 0; i < d->ndev && !err; i++)
		err = write_device(dir, &d->dev[i], i);
	return err ? -1 : 0;
}
