/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hca: RDMA devices and their ports: finding them, choosing one, and opening it.
 *
 * hca_scan() reads all devices and closes them again. hca_choose() is a pure choice among them,
 * with the reason in words. hca_open() opens the chosen port.
 */
#pragma once

#include <infiniband/verbs.h>
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/fault.h"
#include "host/topo.h"
#include "verbs/efa.h"
#include "verbs/gid.h"

struct hca_port {
	char device[64]; /* "mlx5_0" */
	uint64_t guid;   /* node GUID, host byte order */
	uint8_t port;
	enum fabric fabric;
	char netdev[IF_NAMESIZE]; /* "": unknown */
	struct topo_place place;
	struct ibv_device_attr attr; /* of the device */
	struct ibv_port_attr port_attr;
	struct efa_attr efa; /* of an EFA */
	struct gid *gids; /* the non-empty entries; owned */
	size_t gid_count;
	double sysfs_gbps; /* rate in sysfs; 0: none */
	bool roce_v1; /* the GID that was chosen is of RoCE v1 */
	int open_errno; /* why an existing device cannot be opened; then only `device` is valid */
};

struct hca_list {
	struct hca_port *port;
	size_t count;
};

/* What the user and the peer tell about the device to use. */
struct hca_attr {
	const char *device;           /* name, netdev, IP, GUID or PCI address; NULL: choose */
	int port;                     /* 0: choose */
	const struct sockaddr *local; /* this end of the TCP connection; NULL: not yet known */
};

struct qp_route;

struct hca {
	struct ibv_context *ctx;
	struct hca_port info; /* a copy with gids of its own */
	char chosen[160];     /* why this port, for the banner */
	bool listed;          /* /sys shows it; if it no longer does, it was removed */
};

/*
 * List all devices and ports, also those that cannot be opened, or for which only the provider of
 * libibverbs is missing; with ONLY, only the device of that name, if it exists. The list may be
 * empty. Returns 0, or -1 with a fault if the devices cannot be listed. Free it with
 * hca_list_free().
 */
int hca_scan(struct hca_list *list, const char *only, struct fault *f);
void hca_list_free(struct hca_list *list);

/*
 * Choose a port, and write the reason to REASON. Returns NULL and raises FAULT_UNAVAILABLE if there
 * is no device, FAULT_USAGE if none fits WANTED (the fix lists those that exist), FAULT_LOCAL if
 * the port is not ACTIVE (the cause explains its state), or FAULT_UNAVAILABLE if it has no address.
 */
const struct hca_port *hca_choose(const struct hca_list *list, const struct hca_attr *wanted,
				  char *reason, size_t size, struct fault *f);

/* True if WANTED, the argument of -d, names P: by device, netdev, IP, GUID or PCI address. */
bool hca_is_named(const struct hca_port *p, const char *wanted);

/*
 * hca_choose.c: the name of P's state, "ACTIVE"; and "node" or "port" if that GUID is 0, as of a
 * virtual function without one; NULL: none is.
 */
const char *hca_state_name(const struct hca_port *p);
const char *hca_zero_guid(const struct hca_port *p);

/* True if P can be opened, is ACTIVE, and has the address that it needs. */
bool hca_is_usable(const struct hca_port *p);

/*
 * Raise why P cannot be used: FAULT_LOCAL if it cannot be opened or is not ACTIVE,
 * FAULT_UNAVAILABLE if it can only be reached by a GID, and has none. Returns 0 or -1.
 */
int hca_check_usable(const struct hca_port *p, struct fault *f);

/* True if the ends of P's packets are known by GIDs only. */
bool hca_needs_gid(const struct hca_port *p);

/*
 * hca_netdev.c: true if NETDEV is an interface of PORT; and set PORT->netdev, and the GIDs' ifindex
 * to 0 where their interface is in another network namespace.
 */
bool hca_has_netdev(const struct hca_port *port, const char *netdev);
void hca_find_netdev(struct hca_port *port);

/*
 * True if the kernel has removed the open device, which may be in use for that long; and
 * (hca_now.c) the fault. Returns -1.
 */
bool hca_is_removed(const struct hca *h);
int hca_raise_removed(const struct hca *h, struct fault *f);

/*
 * hca_now.c: QPs on route R do not work any more: if the port has changed so that they
 * cannot, replace F's cause and fix by that; and if no packet came, because soft-RoCE does not
 * reach the network namespace of PORT. True if so.
 */
bool hca_explain_failure(const struct hca *h, const struct qp_route *r, struct fault *f);
bool hca_explain_namespace(const struct hca_port *port, struct fault *f);

/*
 * Open PORT of the list. H owns what it opens, also after a failure. Returns 0, or -1 with the
 * fault raised.
 */
int hca_open(struct hca *h, const struct hca_port *port, struct fault *f);

/* Close the device; safe on a zeroed object. */
void hca_release(struct hca *h);

/*
 * The data rate of the link in Gb/s after line coding, from active_speed and active_width. For a
 * speed that has no code there (XDR, which kernels then report as NDR) it is the rate in sysfs. 0:
 * unknown, as that of software, which reports one that is only a name.
 */
double hca_rate_gbps(const struct hca_port *p);

/* True if A and B are ports of one adapter model and link layer. */
static inline bool hca_are_alike(const struct hca_port *a, const struct hca_port *b)
{
	return a->attr.vendor_id == b->attr.vendor_id &&
	       a->attr.vendor_part_id == b->attr.vendor_part_id && a->fabric == b->fabric;
}

/* True if a message without a receive fails there, and is not sent again. */
static inline bool hca_lacks_rnr_retry(const struct hca_port *p)
{
	return p->fabric == FABRIC_EFA && !(p->efa.device_caps & EFA_RNR_RETRY);
}

/* True if P is soft-RoCE (rdma_rxe). */
static inline bool hca_is_soft_roce(const struct hca_port *p)
{
	return p->attr.vendor_id == 0xffffff;
}

/* True if its library (bnxt_re) writes the header of the last request alone, of several between
 * ibv_wr_start and ibv_wr_complete. */
static inline bool hca_loses_headers(const struct hca_port *p)
{
	return p->attr.vendor_id == 0x14e4;
}

/* True if the host's CPUs do what an adapter does: soft-RoCE, or soft-iWARP (siw). */
static inline bool hca_is_software(const struct hca_port *p)
{
	return hca_is_soft_roce(p) || p->attr.vendor_id == 0x626d74;
}

/*
 * Its enum link_kind (verbs/vfault.h): its fabric's number; of soft-RoCE FABRICS, of RoCE v1 the
 * next.
 */
static inline unsigned hca_link(const struct hca_port *p)
{
	return hca_is_soft_roce(p) ? FABRICS : p->roce_v1 ? FABRICS + 1 : p->fabric;
}

/* Convert enum ibv_mtu to bytes (256 … 4096), and back; 0 if invalid. */
unsigned hca_mtu_bytes(enum ibv_mtu mtu);
enum ibv_mtu hca_mtu_enum(unsigned bytes);
