// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What has become of a port since it was opened: why its QPs do not work any more, or never did. */
#include "verbs/hca.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "verbs/qp.h"

#define SO_NETNS_COOKIE_LINUX 71 /* SO_NETNS_COOKIE, which older headers lack */
#define INITIAL_NETNS         1  /* the cookie of the first network namespace */

/* Replace the cause (printf) and the fix of F; they are about HERE if the other end raised it. */
static __attribute__((format(printf, 3, 4))) bool blame(struct fault *f, const char *fix,
							const char *cause, ...)
{
	char text[sizeof(f->cause)];
	va_list ap;

	va_start(ap, cause);
	vsnprintf(text, sizeof(text), cause, ap);
	va_end(ap);
	f->cause[0] = f->fix[0] = '\0';
	fault_cause(f, "%s%s", f->from_peer ? "At this end: " : "", text);
	fault_fix(f, "%s", fix);
	return true;
}

static bool blame_removal(const struct hca *h, struct fault *f)
{
	static const char fix[] = "leave the device in place while it is used; check dmesg";
	const char *netdev = h->info.netdev;

	if (netdev[0] && !if_nametoindex(netdev))
		return blame(f, fix,
			     "%s was removed with its netdev %s, which was deleted or moved to "
			     "another network namespace",
			     h->info.device, netdev);
	return blame(f, fix,
		     "%s was removed: its driver was unloaded or reset it, or `rdma link delete` "
		     "or `rdma dev set` was called",
		     h->info.device);
}

int hca_raise_removed(const struct hca *h, struct fault *f)
{
	fault_raise(f, FAULT_LOCAL, ENODEV, "%s", h->info.device);
	blame_removal(h, f);
	return -1;
}

/* Is this process in another network namespace than the first one? Linux tells since 5.14. */
static bool is_in_namespace(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint64_t cookie = INITIAL_NETNS;
	socklen_t size = sizeof(cookie);

	if (fd >= 0 && getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE_LINUX, &cookie, &size))
		cookie = INITIAL_NETNS;
	if (fd >= 0)
		close(fd);
	return cookie != INITIAL_NETNS;
}

bool hca_explain_namespace(const struct hca_port *p, struct fault *f)
{
	if (!hca_is_soft_roce(p) || (p->netdev[0] && !is_in_namespace()))
		return false;
	return blame(f, "measure in the host's network namespace",
		     "The netdev of %s is in another network namespace than the host's first, the "
		     "only one in which soft-RoCE of most kernels sends and receives",
		     p->device);
}

/* The GID that H had at INDEX, if another one or none is there now; else NULL. */
static const struct gid *lost_gid(const struct hca *h, int index)
{
	union ibv_gid now;

	for (size_t i = 0; i < h->info.gid_count; i++)
		if (h->info.gids[i].index == index)
			return ibv_query_gid(h->ctx, h->info.port, index, &now) ||
					       memcmp(&now, &h->info.gids[i].raw, sizeof(now)) != 0
				       ? &h->info.gids[i]
				       : NULL;
	return NULL;
}

bool hca_explain_failure(const struct hca *h, const struct qp_route *r, struct fault *f)
{
	bool told = !f->completion[0] && !f->errnum; /* the fault says itself what went down */
	struct hca_port now = h->info;
	struct fault state = {0};
	const struct gid *lost;
	char text[64];

	if (hca_is_removed(h))
		return blame_removal(h, f);
	if (ibv_query_port(h->ctx, now.port, &now.port_attr))
		return false;
	if (now.port_attr.state != IBV_PORT_ACTIVE) {
		hca_check_usable(&now, &state);
		return blame(f, state.fix, "%s%s%.400s", told ? "" : state.call, told ? "" : ". ",
			     state.cause);
	}
	if (now.fabric != FABRIC_ROCE)
		return false;
	lost = lost_gid(h, r->gid_index);
	if (lost)
		return blame(f, "leave the address in place while it is used",
			     "GID %d of %s, %s, is no longer there: the address was removed from "
			     "its netdev",
			     r->gid_index, now.device, gid_format(&lost->raw, text, sizeof(text)));
	if (hca_mtu_bytes(now.port_attr.active_mtu) < r->mtu_bytes)
		return blame(
			f, "leave the MTU of its netdev alone while it is used",
			"The MTU of %s is %u B by now, and its packets have up to %u B of data",
			now.device, hca_mtu_bytes(now.port_attr.active_mtu), r->mtu_bytes);
	return false;
}
