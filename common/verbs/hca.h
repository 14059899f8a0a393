/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hca: RDMA devices and their ports: what there is, which one to use, and opening it.
 *
 * hca_scan() looks at everything and closes it again; hca_choose() is a pure choice among what was
 * found, with the reason in words; hca_open() opens the chosen port for use.
 */
#ifndef RDMARK_VERBS_HCA_H
#define RDMARK_VERBS_HCA_H

#include <infiniband/verbs.h>
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/fault.h"
#include "host/topo.h"
#include "verbs/gid.h"

struct hca_port {
	char device[64]; /* "mlx5_0" */
	uint64_t guid;   /* node GUID, host byte order */
	uint8_t port;
	bool is_ethernet;
	char netdev[IF_NAMESIZE]; /* "" if none is known */
	struct topo_place place;
	struct ibv_device_attr attr; /* of the device */
	struct ibv_port_attr port_attr;
	struct gid *gids; /* the non-empty ones; owned */
	size_t gid_count;
	double sysfs_gbps; /* what the kernel says of the rate; 0: nothing */
	int open_errno; /* the device is there but cannot be used: why; then only `device` is valid
			 */
};

struct hca_list {
	struct hca_port *port;
	size_t count;
};

/* What the user and the peer say about the device to use. */
struct hca_wish {
	const char *device;           /* name, netdev, IP, GUID or PCI address; NULL: choose */
	int port;                     /* 0: choose */
	const struct sockaddr *local; /* this end of the TCP connection, NULL: not known yet */
};

struct hca {
	struct ibv_context *ctx;
	struct hca_port info; /* a copy; owns its own gids */
	char chosen[160];     /* why this port, for the banner */
};

/*
 * Look at all devices and ports; with ONLY, at the device of that name alone if there is one. The
 * list may be empty. Raises a fault only if looking is impossible; release with hca_list_free().
 */
int hca_scan(struct hca_list *list, const char *only, struct fault *f);
void hca_list_free(struct hca_list *list);

/*
 * Choose a port and say why in REASON. Raises FAULT_UNAVAILABLE if there is no device at all,
 * FAULT_USAGE if the wish fits none (the fix lists what there is), FAULT_LOCAL if the port is not
 * ACTIVE (the cause says what its state means).
 */
const struct hca_port *hca_choose(const struct hca_list *list, const struct hca_wish *wish,
				  char *reason, size_t size, struct fault *f);

/* Open PORT of the list. H owns what it opens, also after a failure. */
int hca_open(struct hca *h, const struct hca_port *port, struct fault *f);

/* Close; safe on a zeroed object. */
void hca_release(struct hca *h);

/*
 * Data rate of the link in Gb/s after line coding, from active_speed and active_width, or the
 * kernel's figure in sysfs for a speed that their code has no room for (XDR, which kernels give as
 * NDR there); 0: unknown.
 */
double hca_rate_gbps(const struct hca_port *p);

/* 256 … 4096 for an enum ibv_mtu, and back (0 if it is none). */
unsigned hca_mtu_bytes(enum ibv_mtu mtu);
enum ibv_mtu hca_mtu_enum(unsigned bytes);

#endif
