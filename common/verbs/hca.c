// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Opening and describing devices; which one to use is decided in hca_choose.c. */
#include "verbs/hca.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/sysfs.h"
#include "verbs/vfault.h"

#define GIDS_MAX  1024
#define SPEED_NDR 128

unsigned hca_mtu_bytes(enum ibv_mtu mtu)
{
	return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128u << mtu : 0;
}

enum ibv_mtu hca_mtu_enum(unsigned bytes)
{
	for (enum ibv_mtu m = IBV_MTU_256; m <= IBV_MTU_4096; m++)
		if (hca_mtu_bytes(m) == bytes)
			return m;
	return 0;
}

/* Gb/s of one lane after coding, by active_speed (IB specification, PortInfo.LinkSpeedActive). */
static double lane_gbps(unsigned speed, bool ethernet)
{
	switch (speed) {
	case 1:
		return ethernet ? 2.5 : 2; /* SDR, 8b/10b */
	case 2:
		return ethernet ? 5 : 4; /* DDR */
	case 4:
		return ethernet ? 10 : 8; /* QDR */
	case 8:
		return 10; /* FDR10, 64b/66b */
	case 16:
		return ethernet ? 14 : 14.0625 * 64 / 66; /* FDR */
	case 32:
		return 25; /* EDR */
	case 64:
		return 50; /* HDR */
	case SPEED_NDR:
		return 100;
	default:
		return 0;
	}
}

double hca_rate_gbps(const struct hca_port *p)
{
	static const struct {
		unsigned code, lanes;
	} width[] = {{1, 1}, {2, 4}, {4, 8}, {8, 12}, {16, 2}};

	double lane = lane_gbps(p->port_attr.active_speed, p->is_ethernet), gbps = 0;

	for (size_t i = 0; lane > 0 && i < sizeof(width) / sizeof(width[0]); i++)
		if (p->port_attr.active_width == width[i].code)
			gbps = width[i].lanes * lane;
	/* The code has no room for what came after NDR: kernels say NDR then, sysfs the rate. */
	if (!gbps || (p->port_attr.active_speed == SPEED_NDR && p->sysfs_gbps > gbps))
		return p->sysfs_gbps;
	return gbps;
}

/* "800 Gb/sec (4X XDR)" */
static double read_rate(const char *device, unsigned port)
{
	char text[64];
	double gbps;

	if (sysfs_read(text, sizeof(text), "class/infiniband/%s/ports/%u/rate", device, port))
		return 0;
	return sscanf(text, "%lf Gb/sec", &gbps) == 1 && gbps > 0 && gbps < 1e6 ? gbps : 0;
}

static int read_gids(struct hca_port *p, struct ibv_context *ctx)
{
	size_t room = 0, n = 0;
	ssize_t got;
	struct ibv_gid_entry *entry = calloc(GIDS_MAX, sizeof(*entry));

	if (!entry)
		return -ENOMEM;
	got = ibv_query_gid_table(ctx, entry, GIDS_MAX, 0);
	for (ssize_t i = 0; i < got; i++)
		room += entry[i].port_num == p->port;
	p->gids = calloc(room + 1, sizeof(*p->gids));
	for (ssize_t i = 0; p->gids && i < got; i++) {
		if (entry[i].port_num != p->port)
			continue;
		p->gids[n++] = (struct gid){
			.index = (int)entry[i].gid_index,
			.kind = gid_kind_of(&entry[i].gid, entry[i].gid_type),
			.ifindex = entry[i].ndev_ifindex,
			.raw = entry[i].gid,
		};
		if (!p->netdev[0] && entry[i].ndev_ifindex)
			if (!if_indextoname(entry[i].ndev_ifindex, p->netdev))
				p->netdev[0] = '\0';
	}
	free(entry);
	p->gid_count = n;
	return p->gids ? 0 : -ENOMEM;
}

/* Fill P for PORT of the open device. Returns 0 or a positive errno. */
static int describe(struct hca_port *p, struct ibv_context *ctx, uint8_t port)
{
	int rc;

	memset(p, 0, sizeof(*p));
	snprintf(p->device, sizeof(p->device), "%s", ibv_get_device_name(ctx->device));
	p->guid = be64toh(ibv_get_device_guid(ctx->device));
	p->port = port;
	rc = ibv_query_device(ctx, &p->attr);
	if (!rc)
		rc = ibv_query_port(ctx, port, &p->port_attr);
	if (rc)
		return rc > 0 ? rc : errno;
	p->is_ethernet = p->port_attr.link_layer == IBV_LINK_LAYER_ETHERNET;
	p->sysfs_gbps = read_rate(p->device, port);
	topo_locate(p->device, &p->place);
	return -read_gids(p, ctx);
}

static struct hca_port *list_add(struct hca_list *list)
{
	struct hca_port *port = realloc(list->port, (list->count + 1) * sizeof(*port));

	if (!port)
		return NULL;
	list->port = port;
	port += list->count++;
	memset(port, 0, sizeof(*port));
	return port;
}

static void scan_device(struct hca_list *list, struct ibv_device *dev)
{
	struct ibv_context *ctx = ibv_open_device(dev);
	struct ibv_device_attr attr = {.phys_port_cnt = 1};
	int err = ctx ? 0 : errno ? errno : ENODEV;

	if (ctx)
		ibv_query_device(ctx, &attr);
	for (unsigned n = 1; n <= attr.phys_port_cnt; n++) {
		struct hca_port *p = list_add(list);

		if (!p)
			break;
		if (ctx)
			err = describe(p, ctx, (uint8_t)n);
		if (!err)
			continue;
		free(p->gids);
		*p = (struct hca_port){.open_errno = err, .port = (uint8_t)n};
		snprintf(p->device, sizeof(p->device), "%s", ibv_get_device_name(dev));
	}
	if (ctx)
		ibv_close_device(ctx);
}

/* Why there can be no device list: module, container or library. */
static int no_list(int errnum, struct fault *f)
{
	struct stat st;

	fault_raise(f, FAULT_UNAVAILABLE, errnum, "ibv_get_device_list");
	if (stat("/sys/class/infiniband_verbs", &st) != 0 &&
	    stat("/sys/class/infiniband", &st) != 0) {
		fault_cause(f, "The kernel has no RDMA subsystem loaded");
		return fault_fix(
			f, "load the NIC's driver and ib_uverbs (modprobe mlx5_ib ib_uverbs)");
	}
	fault_cause(f, "The kernel has RDMA devices, user space cannot reach them");
	return fault_fix(f, "modprobe ib_uverbs; in a container pass /dev/infiniband through");
}

int hca_scan(struct hca_list *list, const char *only, struct fault *f)
{
	struct ibv_device **devices;
	bool found = false;
	int count = 0;

	fault_phase(f, "looking for RDMA devices");
	*list = (struct hca_list){NULL, 0};
	devices = ibv_get_device_list(&count);
	if (!devices)
		return no_list(errno, f);
	for (int i = 0; only && i < count; i++)
		found |= strcmp(ibv_get_device_name(devices[i]), only) == 0;
	for (int i = 0; i < count; i++)
		if (!found || strcmp(ibv_get_device_name(devices[i]), only) == 0)
			scan_device(list, devices[i]);
	ibv_free_device_list(devices);
	return 0;
}

void hca_list_free(struct hca_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->port[i].gids);
	free(list->port);
	*list = (struct hca_list){NULL, 0};
}

/* It could be used a moment ago, when the list was made. */
static int gone(struct fault *f)
{
	return fault_fix(f, "look at dmesg whether the device was reset or removed");
}

int hca_open(struct hca *h, const struct hca_port *port, struct fault *f)
{
	struct ibv_device **devices;
	int count = 0, rc = 0;

	fault_phase(f, "opening the RDMA device");
	memset(h, 0, sizeof(*h));
	devices = ibv_get_device_list(&count);
	if (!devices)
		return no_list(errno, f);
	for (int i = 0; i < count && !h->ctx; i++) {
		if (strcmp(ibv_get_device_name(devices[i]), port->device) != 0)
			continue;
		h->ctx = ibv_open_device(devices[i]);
		rc = h->ctx ? 0 : errno;
	}
	ibv_free_device_list(devices);
	if (!h->ctx) {
		vfault_raise(f, rc, 0, "ibv_open_device(%s)", port->device);
		return gone(f);
	}
	rc = describe(&h->info, h->ctx, port->port);
	if (rc) {
		vfault_raise(f, rc, 0, "querying %s port %u", port->device, port->port);
		return gone(f);
	}
	return 0;
}

void hca_release(struct hca *h)
{
	free(h->info.gids);
	if (h->ctx)
		ibv_close_device(h->ctx);
	memset(h, 0, sizeof(*h));
}
