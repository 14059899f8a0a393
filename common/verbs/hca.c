// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Opens and describes devices; hca_choose.c decides which one to use. */
#include "verbs/hca.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/phase.h"
#include "host/sysfs.h"
#include "verbs/reach.h"
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

bool hca_needs_gid(const struct hca_port *p)
{
	return fabric_row(p->fabric)->needs_gid || p->port_attr.flags & IBV_QPF_GRH_REQUIRED;
}

double hca_rate_gbps(const struct hca_port *p)
{
	/* Gb/s of a lane after coding (IB specification, PortInfo.LinkSpeedActive). */
	static const struct {
		unsigned code;
		double infiniband, ethernet;
	} speed[] = {
		{1, 2, 2.5},                 /* SDR, 8b/10b */
		{2, 4, 5},                   /* DDR */
		{4, 8, 10},                  /* QDR */
		{8, 10, 10},                 /* FDR10, 64b/66b */
		{16, 14.0625 * 64 / 66, 14}, /* FDR */
		{32, 25, 25},                /* EDR */
		{64, 50, 50},                /* HDR */
		{SPEED_NDR, 100, 100},
	};
	static const struct {
		unsigned code, lanes;
	} width[] = {{1, 1}, {2, 4}, {4, 8}, {8, 12}, {16, 2}};
	double lane = 0, gbps = 0;

	if (hca_is_software(p))
		return 0;
	for (size_t i = 0; i < sizeof(speed) / sizeof(speed[0]); i++)
		if (p->port_attr.active_speed == speed[i].code)
			lane = p->fabric == FABRIC_INFINIBAND ? speed[i].infiniband
							      : speed[i].ethernet;
	for (size_t i = 0; i < sizeof(width) / sizeof(width[0]); i++)
		if (p->port_attr.active_width == width[i].code)
			gbps = width[i].lanes * lane;
	/* active_speed has no code after NDR: kernels report NDR then, and sysfs the real rate. */
	if (!gbps || (p->port_attr.active_speed == SPEED_NDR && p->sysfs_gbps > gbps))
		return p->sysfs_gbps;
	return gbps;
}

/* The rate in Gb/s from sysfs, "800 Gb/sec (4X XDR)"; 0 if unknown. */
static double read_sysfs_rate(const char *device, unsigned port)
{
	char text[64];
	double gbps;

	if (sysfs_read(text, sizeof(text), "class/infiniband/%s/ports/%u/rate", device, port))
		return 0;
	return sscanf(text, "%lf Gb/sec", &gbps) == 1 && gbps > 0 && gbps < 1e6 ? gbps : 0;
}

/* True if ENTRY is of PORT and not all zeros, as one is whose netdev the process cannot see. */
static bool has_gid(const struct ibv_gid_entry *entry, uint8_t port)
{
	static const union ibv_gid none;

	return entry->port_num == port && memcmp(&entry->gid, &none, sizeof(none)) != 0;
}

/* Read the port's GID table, and find its netdev. Returns 0 or -ENOMEM. */
static int read_gids(struct hca_port *p, struct ibv_context *ctx)
{
	size_t room = 0, n = 0;
	ssize_t got;
	struct ibv_gid_entry *entry = calloc(GIDS_MAX, sizeof(*entry));

	if (!entry)
		return -ENOMEM;
	got = ibv_query_gid_table(ctx, entry, GIDS_MAX, 0);
	for (ssize_t i = 0; i < got; i++)
		room += has_gid(&entry[i], p->port);
	p->gids = calloc(room + 1, sizeof(*p->gids));
	for (ssize_t i = 0; p->gids && i < got; i++) {
		if (!has_gid(&entry[i], p->port))
			continue;
		p->gids[n++] = (struct gid){
			.index = (int)entry[i].gid_index,
			.kind = gid_kind_of(p->fabric, &entry[i].gid, entry[i].gid_type),
			.ifindex = entry[i].ndev_ifindex,
			.raw = entry[i].gid,
		};
	}
	free(entry);
	p->gid_count = p->gids ? n : 0;
	hca_find_netdev(p);
	return p->gids ? 0 : -ENOMEM;
}

static enum fabric find_fabric(const struct hca_port *p, enum ibv_transport_type transport)
{
	if (transport == IBV_TRANSPORT_IWARP)
		return FABRIC_IWARP;
	if (transport == IBV_TRANSPORT_UNSPECIFIED && p->attr.vendor_id == EFA_VENDOR)
		return FABRIC_EFA;
	return p->port_attr.link_layer == IBV_LINK_LAYER_ETHERNET ? FABRIC_ROCE : FABRIC_INFINIBAND;
}

/* Fill P for PORT of the open device. Returns 0 or a positive errno. */
static int describe_port(struct hca_port *p, struct ibv_context *ctx, uint8_t port)
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
	p->fabric = find_fabric(p, ctx->device->transport_type);
	if (p->fabric == FABRIC_EFA)
		efa_query(ctx, &p->efa);
	p->sysfs_gbps = read_sysfs_rate(p->device, port);
	topo_locate(p->device, &p->place);
	return -read_gids(p, ctx);
}

/* Append a zeroed port to LIST. Returns NULL if there is no memory. */
static struct hca_port *add_port(struct hca_list *list)
{
	struct hca_port *port = realloc(list->port, (list->count + 1) * sizeof(*port));

	if (!port)
		return NULL;
	list->port = port;
	port += list->count++;
	memset(port, 0, sizeof(*port));
	return port;
}

/* Add all ports of DEV to LIST. One that cannot be opened or queried has only its name and
 * open_errno. Returns 0 or -ENOMEM. */
static int scan_device(struct hca_list *list, struct ibv_device *dev)
{
	struct ibv_context *ctx = ibv_open_device(dev);
	struct ibv_device_attr attr = {.phys_port_cnt = 1};
	int err = ctx ? 0 : errno ? errno : ENODEV;

	if (err && err != ENOMEM)
		err = reach_errno(ibv_get_device_name(dev), err);
	if (ctx)
		ibv_query_device(ctx, &attr);
	for (unsigned n = 1; n <= attr.phys_port_cnt && err != ENOMEM; n++) {
		struct hca_port *p = add_port(list);

		err = !p ? ENOMEM : ctx ? describe_port(p, ctx, (uint8_t)n) : err;
		if (!err || !p)
			continue;
		free(p->gids);
		*p = (struct hca_port){.open_errno = err, .port = (uint8_t)n};
		snprintf(p->device, sizeof(p->device), "%s", ibv_get_device_name(dev));
	}
	if (ctx)
		ibv_close_device(ctx);
	return err == ENOMEM ? -ENOMEM : 0;
}

/*
 * Add the devices for which libibverbs, which lists COUNT DEVICES, lacks only the provider. Not if
 * the kernel that /sys shows does not have what libibverbs lists: that is another machine's.
 * Returns 0 or -ENOMEM.
 */
static int add_unlisted(struct hca_list *list, struct ibv_device **devices, int count)
{
	char name[SYSFS_NAME];
	struct hca_port *p;
	int known;

	if (!count || !reach_in_kernel(ibv_get_device_name(devices[0])))
		return 0;
	for (unsigned i = 0; !sysfs_name(name, i, "class/infiniband"); i++) {
		for (known = 0; known < count; known++)
			if (strcmp(ibv_get_device_name(devices[known]), name) == 0)
				break;
		if (known < count || !reach_lacks_provider(name))
			continue;
		p = add_port(list);
		if (!p)
			return -ENOMEM;
		*p = (struct hca_port){.open_errno = REACH_NO_PROVIDER, .port = 1};
		snprintf(p->device, sizeof(p->device), "%.*s", (int)sizeof(p->device) - 1, name);
	}
	return 0;
}

int hca_scan(struct hca_list *list, const char *only, struct fault *f)
{
	struct ibv_device **devices;
	bool found = false;
	int count = 0, rc = 0;

	fault_phase(f, PHASE_FIND_DEVICES);
	*list = (struct hca_list){NULL, 0};
	devices = ibv_get_device_list(&count);
	if (!devices)
		return reach_none(errno ? errno : ENOSYS, f);
	for (int i = 0; only && i < count; i++)
		found |= strcmp(ibv_get_device_name(devices[i]), only) == 0;
	for (int i = 0; i < count && !rc; i++)
		if (!found || strcmp(ibv_get_device_name(devices[i]), only) == 0)
			rc = scan_device(list, devices[i]);
	if (!found && !rc)
		rc = add_unlisted(list, devices, count);
	ibv_free_device_list(devices);
	if (!rc)
		return 0;
	hca_list_free(list);
	return fault_raise(f, FAULT_LOCAL, ENOMEM, "opening the devices that libibverbs lists");
}

void hca_list_free(struct hca_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->port[i].gids);
	free(list->port);
	*list = (struct hca_list){NULL, 0};
}

/* Add a fix for a device that was usable when the list was made, but is not any more. */
static int suggest_dmesg(struct fault *f)
{
	return fault_fix(f, "check in dmesg whether the device was reset or removed");
}

/* Whether /sys shows the device, and that programs can open it, in this network namespace. */
static bool is_listed(const struct hca *h)
{
	return sysfs_exists("class/infiniband_verbs/%s", h->ctx->device->dev_name) &&
	       reach_in_kernel(h->info.device);
}

int hca_open(struct hca *h, const struct hca_port *port, struct fault *f)
{
	struct ibv_device **devices;
	int count = 0, rc = 0;

	fault_phase(f, PHASE_OPEN_DEVICE);
	memset(h, 0, sizeof(*h));
	devices = ibv_get_device_list(&count);
	if (!devices)
		return reach_none(errno ? errno : ENOSYS, f);
	for (int i = 0; i < count && !h->ctx; i++) {
		if (strcmp(ibv_get_device_name(devices[i]), port->device) != 0)
			continue;
		h->ctx = ibv_open_device(devices[i]);
		rc = h->ctx ? 0 : errno;
	}
	ibv_free_device_list(devices);
	if (!h->ctx) {
		reach_refused(port->device, rc ? rc : ENODEV, f);
		return suggest_dmesg(f);
	}
	rc = describe_port(&h->info, h->ctx, port->port);
	if (rc) {
		vfault_raise(f, rc, 0, "querying %s port %u", port->device, port->port);
		return suggest_dmesg(f);
	}
	h->listed = is_listed(h);
	return 0;
}

bool hca_is_removed(const struct hca *h)
{
	return h->listed && !is_listed(h);
}

void hca_release(struct hca *h)
{
	free(h->info.gids);
	if (h->ctx)
		ibv_close_device(h->ctx);
	memset(h, 0, sizeof(*h));
}
