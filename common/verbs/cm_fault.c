// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Why rdma_cm does not connect, in words. */
#include "verbs/cm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/sysfs.h"

#define NODE "/dev/infiniband/rdma_cm"

/* InfiniBand specification 12.6.7.2, the reasons that a user can do something about. */
#define REJECTED_NO_SERVICE 8
#define REJECTED_STALE      10
#define REJECTED_BY_PEER    28

int cm_look(struct fault *f)
{
	char path[128];
	int fd = open(NODE, O_RDWR | O_CLOEXEC);

	if (fd >= 0) {
		close(fd);
		return 0;
	}
	fault_raise(f, errno == ENOENT ? FAULT_UNAVAILABLE : FAULT_LOCAL, errno, "open %s", NODE);
	if (f->errnum == EACCES || f->errnum == EPERM) {
		fault_cause(f, "This user may not use rdma_cm");
		return fault_fix(f, "allow access to " NODE "; in a container pass it through");
	}
	if (sysfs_resolve(path, sizeof(path), "class/misc/rdma_cm") == 0) {
		fault_cause(
			f,
			"The kernel has rdma_cm, but its device node is not there: a container without it, or no udev");
		return fault_fix(f, "pass " NODE " through, or leave -R and -z out");
	}
	fault_cause(f, "The kernel module rdma_ucm is not loaded");
	return fault_fix(f, "modprobe rdma_ucm, or leave -R and -z out");
}

/* "192.0.2.2, from 192.0.2.1": whom the event concerns. */
static const char *way(const struct cm *c, char *buf, size_t size)
{
	if (c->listener)
		snprintf(buf, size, "on %s", c->own_name);
	else
		snprintf(buf, size, "to %s%s%s", c->peer_name, c->own_name[0] ? " from " : "",
			 c->own_name);
	return buf;
}

static const char *netdev_of(const struct cm *c)
{
	return c->device->netdev[0] ? c->device->netdev : "its netdev";
}

static int no_address(const struct cm *c, int err, struct fault *f)
{
	if (err == ENODEV || err == EADDRNOTAVAIL) {
		fault_cause(f, "The way to %s leaves by no RDMA device; %s has the netdev %s",
			    c->peer_name, c->device->device, netdev_of(c));
		return fault_fix(
			f,
			"give %s an address that reaches %s (see `ip route get`), or name the RDMA devices with -d on both ends",
			netdev_of(c), c->peer_name);
	}
	fault_cause(f, "%s has no route or no neighbour entry for %s", netdev_of(c), c->peer_name);
	return fault_fix(f, "check with `ping -I %s %s`", netdev_of(c), c->peer_name);
}

/* The loopback interface is what people try first. */
static int no_path(const struct cm *c, struct fault *f)
{
	if (strcmp(c->device->netdev, "lo") == 0) {
		fault_cause(f, "rdma_cm makes no path over the loopback interface, where %s is",
			    c->device->device);
		return fault_fix(
			f,
			"name an RDMA device of another netdev with -d, and its address, or leave -R out");
	}
	fault_cause(
		f,
		"There is no path: the subnet manager gave none, or %s is no interface that rdma_cm can use",
		netdev_of(c));
	return fault_fix(f, "check with rping between the two addresses, or leave -R out");
}

int cm_route_fault(const struct cm *c, int errnum, struct fault *f)
{
	char to[2 * CM_ADDRESS_SIZE + 16];

	fault_raise(f, FAULT_LOCAL, errnum, "rdma_resolve_route %s", way(c, to, sizeof(to)));
	return no_path(c, f);
}

static int rejected(const struct cm *c, int reason, struct fault *f)
{
	switch (reason) {
	case REJECTED_BY_PEER:
		fault_cause(
			f,
			"Whoever listens there does not know this session: another server, or it gave up");
		return fault_fix(f, "look at what the server printed");
	case REJECTED_NO_SERVICE:
	case -ECONNREFUSED:
		fault_cause(f, "Nobody listens there for rdma_cm any more");
		return fault_fix(f, "look at what the server printed");
	case REJECTED_STALE:
		fault_cause(
			f,
			"The server's host still remembers an earlier connection of this QP number");
		return fault_fix(f, "run it again after some seconds");
	default:
		return fault_cause(f,
				   "Reason %d of the communication manager (IBTA 12.6.7.2) at %s",
				   reason, c->peer_name);
	}
}

int cm_event_fault(const struct cm *c, const struct rdma_cm_event *e, struct fault *f)
{
	int err = e->status < 0 ? -e->status : 0;
	char to[2 * CM_ADDRESS_SIZE + 16];
	enum fault_code code = FAULT_LOCAL;

	if (e->event == RDMA_CM_EVENT_UNREACHABLE)
		code = FAULT_DEADLINE;
	else if (e->event == RDMA_CM_EVENT_REJECTED || e->event == RDMA_CM_EVENT_DISCONNECTED)
		code = FAULT_PEER;
	fault_raise(f, code, err, "%s %s", rdma_event_str(e->event), way(c, to, sizeof(to)));
	switch (e->event) {
	case RDMA_CM_EVENT_ADDR_ERROR:
		return no_address(c, err, f);
	case RDMA_CM_EVENT_ROUTE_ERROR:
		return no_path(c, f);
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_CONNECT_ERROR:
		fault_cause(
			f,
			"The communication manager there does not answer: its packets are lost or blocked on the way");
		return fault_fix(
			f,
			"check the route between the two addresses and the firewall (RoCE v2 is UDP port 4791)");
	case RDMA_CM_EVENT_REJECTED:
		return rejected(c, e->status, f);
	case RDMA_CM_EVENT_DISCONNECTED:
		return fault_cause(f, "The peer ended before all QPs were connected");
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		fault_cause(f, "%s was removed, or its driver is being reloaded",
			    c->device->device);
		return fault_fix(f, "look at dmesg");
	default:
		return -1;
	}
}

int cm_late(const struct cm *c, struct fault *f)
{
	char to[2 * CM_ADDRESS_SIZE + 16];

	fault_raise(f, FAULT_DEADLINE, ETIMEDOUT, "%u of %u QPs connected %s", c->up, c->qps->count,
		    way(c, to, sizeof(to)));
	fault_cause(f, "The peer answers over the first connection, but not to rdma_cm");
	return fault_fix(
		f,
		"check the route between the two addresses and the firewall (RoCE v2 is UDP port 4791); --timeout sets the deadline");
}
