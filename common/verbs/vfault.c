// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "verbs/vfault.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/cgroup.h"
#include "base/units.h"
#include "finding/why.h"
#include "host/sysfs.h"

/* Explain ENOMEM of a call that pins BYTES: the usual cause is RLIMIT_MEMLOCK, not the lack of
 * memory. */
static void explain_memory(struct fault *f, size_t bytes)
{
	size_t now = sysfs_proc_bytes("/proc/self/status", "VmPin");
	struct rlimit limit;
	bool unlimited;

	if (getrlimit(RLIMIT_MEMLOCK, &limit))
		return;
	unlimited = limit.rlim_cur == RLIM_INFINITY;
	why_explain(f,
		    unlimited || now + bytes <= limit.rlim_cur ? WHY_MEMORY_FULL : WHY_MEMLOCK,
		    WHY_VALUES({"limit", unlimited ? "unlimited" : units_size(limit.rlim_cur).text},
			       {"bytes", units_size(bytes).text},
			       {"pinned", units_size(now).text}));
}

static const struct {
	int number[2];
	enum why why;
} errno_errors[] = {
	{{ENODEV, EIO}, WHY_REMOVED},
	{{EPERM, EACCES}, WHY_PERMISSION},
	{{EMFILE, ENFILE}, WHY_OPEN_FILES},
	{{EOPNOTSUPP, ENOSYS}, WHY_NOT_SUPPORTED},
};

static void explain_errno(struct fault *f, int errnum)
{
	for (size_t i = 0; i < sizeof(errno_errors) / sizeof(errno_errors[0]); i++)
		if (errnum && (errno_errors[i].number[0] == errnum ||
			       errno_errors[i].number[1] == errnum))
			why_explain(f, errno_errors[i].why, WHY_VALUES());
}

int vfault_raise(struct fault *f, int rc, size_t pinned_bytes, const char *call, ...)
{
	int errnum = rc == -1 && errno ? errno : abs(rc); /* -1, -errno or errno */
	struct cgroup_limit l;
	char text[192];
	va_list ap;

	va_start(ap, call);
	vsnprintf(text, sizeof(text), call, ap);
	va_end(ap);
	fault_raise(f, FAULT_LOCAL, errnum, "%s", text);
	if (errnum == ENOMEM && pinned_bytes)
		explain_memory(f, pinned_bytes);
	else if (errnum == EAGAIN && cgroup_find("rdma.max", &l))
		EXPLAIN(f, RDMA_MAX, {"limit", l.text}, {"folder", l.dir});
	else
		explain_errno(f, errnum);
	return -1;
}

#define PING    "with ping between the addresses of the two GIDs, or choose the GIDs with -x on both ends"
#define HOSTS   "dmesg, the load and the ports of both hosts, and the switches"
#define COUNTED "dmesg and the counters of both ports (rdma statistic, ethtool -S)"

const struct link_words *vfault_words(enum link_kind link)
{
	static const struct link_words words[] = {
		[LINK_KIND_IB] = {
			"the path between the two LIDs (ibtracert), the partition of both ports, the "
			"subnet manager's log, and the error counters of both ports (perfquery)",
			"dmesg, the load and the ports of both hosts (perfquery), and the switches",
			"dmesg and the error counters of both ports (perfquery)",
			"that an InfiniBand router connects the subnets of the two GIDs", false},
		[LINK_KIND_ROCE] = {
			"the route between the two GIDs, the firewall (RoCE v2 uses UDP port 4791), the "
			"MTU of the switches, and pause or ECN settings",
			HOSTS, COUNTED, PING, true},
		[LINK_KIND_IWARP] = {
			"the route between the two addresses, and the firewall (iWARP uses TCP, any port)",
			HOSTS, COUNTED, PING, false},
		[LINK_KIND_EFA] = {
			"that both ends are in one subnet, and that their security group allows all "
			"traffic of its own members, out and in",
			"dmesg, the load and the state of both instances",
			"dmesg and the counters of both ends (rdma -p statistic)",
			"that both ends are in one subnet", false},
		[LINK_KIND_SOFT] = {
			"that the netdevs of both ends are up (ip link), and the firewall of both hosts "
			"(UDP port 4791)",
			"dmesg, the load and the netdevs of both hosts",
			"dmesg and the netdevs of both hosts (ip -s link)", PING, true},
		[LINK_KIND_ROCE_V1] = {
			"that both ports are in one VLAN, since RoCE v1 is not routed, the MTU of the "
			"switches, and pause settings",
			HOSTS, COUNTED,
			"that both ports are in one VLAN, or choose the GIDs with -x on both ends", true},
	};

	return &words[link];
}

#define ON(link)     (1u << LINK_KIND_##link)
#define NO_ANSWER    IBV_WC_RETRY_EXC_ERR, IBV_WC_RESP_TIMEOUT_ERR
#define NOT_DONE     IBV_WC_REM_INV_REQ_ERR, IBV_WC_REM_OP_ERR
#define NOT_TAKEN    IBV_WC_LOC_PROT_ERR, IBV_WC_LOC_LEN_ERR, IBV_WC_LOC_QP_OP_ERR, IBV_WC_LOC_ACCESS_ERR
#define TOO_LONG \
	"The peer's NIC could not execute the request: the message is longer than the receive buffer"
#define UNREADABLE   "This end's NIC could not access its buffer, or the request is malformed"
#define LATE_ACKS    "use --qp-timeout 18 (rdmark(7), Soft-RoCE)" /* which make messages longer */
#define WHAT_IT_SAID "see what the peer printed"

/*
 * What up to 4 completion statuses mean: the first row that fits, of LINKS (0: any) and of the
 * VENDOR's error (0: any). Without a fix: what the link's words say.
 */
static const struct {
	enum ibv_wc_status status[4];
	unsigned links;
	uint32_t vendor;
	enum fault_code code;
	const char *cause, *fix;
} statuses[] = {
	/* every failure ends a connection, and there is no other status */
	{{IBV_WC_WR_FLUSH_ERR, IBV_WC_LOC_QP_OP_ERR, IBV_WC_GENERAL_ERR}, ON(IWARP), 0, FAULT_PEER,
	 "The connection ended: the peer is gone, or no receive request was posted for a message",
	 WHAT_IT_SAID "; check dmesg on both hosts for a TERMINATE; use a larger --rx-depth"},
	{{NO_ANSWER}, ON(EFA), 13, FAULT_PEER,
	 "The peer's EFA answers no more: the peer is gone, or packets are blocked", NULL},
	{{NO_ANSWER}, 0, 0, FAULT_PEER,
	 "The peer sends no ACK: it is gone, or packets are lost or blocked", NULL},
	{{IBV_WC_REM_INV_RD_REQ_ERR, IBV_WC_REM_ABORT_ERR}, 0, 0, FAULT_PEER,
	 "The peer's QP is gone, or in the error state", WHAT_IT_SAID},
	{{IBV_WC_RNR_RETRY_EXC_ERR}, 0, 0, FAULT_LOCAL,
	 "The receiver had no receive request posted", "use a larger --rx-depth"},
	{{IBV_WC_REM_ACCESS_ERR}, 0, 0, FAULT_LOCAL,
	 "The peer's NIC refused the access: the rkey, the address or the access rights are wrong",
	 "check dmesg on the peer"},
	{{IBV_WC_REM_OP_ERR}, ON(EFA), 0, FAULT_LOCAL,
	 "The peer's EFA has no address handle of this end", WHAT_IT_SAID},
	{{IBV_WC_REM_INV_REQ_ERR}, ON(EFA), 18, FAULT_LOCAL,
	 "The two EFAs have different features", "compare drivers and instance types of both ends"},
	{{IBV_WC_REM_INV_REQ_ERR}, ON(EFA), 0, FAULT_LOCAL, TOO_LONG, "check dmesg on the peer"},
	{{NOT_DONE}, ON(SOFT), 0, FAULT_LOCAL,
	 TOO_LONG ", packets came out of order, or the device does not support the operation",
	 "check dmesg on the peer; " LATE_ACKS},
	{{NOT_DONE}, 0, 0, FAULT_LOCAL,
	 TOO_LONG ", packets came out of order, or the NIC does not support the operation",
	 "check dmesg on the peer"},
	{{NOT_TAKEN}, ON(SOFT), 0, FAULT_LOCAL, UNREADABLE, "check dmesg; " LATE_ACKS},
	{{NOT_TAKEN}, 0, 0, FAULT_LOCAL, UNREADABLE, "check dmesg"},
	{{IBV_WC_WR_FLUSH_ERR}, 0, 0, FAULT_LOCAL,
	 "The QP failed earlier, and the request was flushed", NULL},
	{{IBV_WC_SUCCESS}, 0, 0, FAULT_LOCAL, NULL, NULL}, /* any other */
};

/* The row's number for WC on LINK. */
static unsigned find_status(enum link_kind link, const struct ibv_wc *wc)
{
	for (unsigned i = 0;; i++) {
		if (!statuses[i].cause)
			return i;
		if ((statuses[i].links && !(statuses[i].links & 1u << link)) ||
		    (statuses[i].vendor && statuses[i].vendor != wc->vendor_err))
			continue;
		for (unsigned k = 0; k < 4 && statuses[i].status[k]; k++)
			if (statuses[i].status[k] == wc->status)
				return i;
	}
}

static bool has_status(const struct fault *f, enum ibv_wc_status status)
{
	return strcmp(f->completion, ibv_wc_status_str(status)) == 0;
}

bool vfault_unanswered(const struct fault *f)
{
	return has_status(f, IBV_WC_RETRY_EXC_ERR) || has_status(f, IBV_WC_RESP_TIMEOUT_ERR);
}

bool vfault_unsent(const struct fault *f)
{
	return has_status(f, IBV_WC_LOC_QP_OP_ERR);
}

int vfault_completion(struct fault *f, enum link_kind link, const struct ibv_wc *wc,
		      const char *what)
{
	unsigned row = find_status(link, wc);

	if (fault_is(f))
		return -1;
	fault_raise(f, statuses[row].code, 0,
		    "%s on QP 0x%06x completed with \"%s\" (status %d, vendor error 0x%x)", what,
		    wc->qp_num, ibv_wc_status_str(wc->status), (int)wc->status, wc->vendor_err);
	snprintf(f->completion, sizeof(f->completion), "%s", ibv_wc_status_str(wc->status));
	f->vendor_error = wc->vendor_err;
	if (statuses[row].cause)
		fault_cause(f, "%s", statuses[row].cause);
	if (statuses[row].fix)
		return fault_fix(f, "%s", statuses[row].fix);
	return fault_fix(f, "check %s",
			 vfault_unanswered(f) ? vfault_words(link)->way : vfault_words(link)->ports);
}

bool vfault_is_stuck(const struct fault *f)
{
	return !f->from_peer && strcmp(f->completion, "none") == 0;
}

int vfault_stuck(struct fault *f, enum link_kind link, uint64_t waited_ns, uint64_t before)
{
	if (fault_is(f))
		return -1;
	fault_raise(f, FAULT_DEADLINE, ETIMEDOUT,
		    "no completion for %s (%llu messages completed before)",
		    units_ns(waited_ns).text, (unsigned long long)before);
	snprintf(f->completion, sizeof(f->completion), "none");
	fault_cause(f, "The peer answers over TCP, but its RDMA packets do not arrive");
	return fault_fix(f, "check %s; use a larger --timeout for a link this slow",
			 vfault_words(link)->way);
}

void vfault_of_gpu(struct fault *f, enum ibv_wc_status status, bool here, bool there)
{
	here = here && (status == IBV_WC_LOC_PROT_ERR || status == IBV_WC_WR_FLUSH_ERR);
	there = there && (status == IBV_WC_REM_ACCESS_ERR || status == IBV_WC_REM_OP_ERR);
	if (!here && !there)
		return;
	f->cause[0] = f->fix[0] = '\0';
	EXPLAIN(f, NIC_AND_GPU, {"whose", here ? "this end's" : "the peer's"});
}

int vfault_async_event(struct fault *f, struct ibv_context *ctx, uint8_t port)
{
	struct ibv_async_event event;
	const char *device = ibv_get_device_name(ctx->device);

	if (ibv_get_async_event(ctx, &event))
		return 0;
	ibv_ack_async_event(&event);
	switch (event.event_type) {
	case IBV_EVENT_PORT_ERR:
		if (event.element.port_num != port)
			return 0;
		fault_raise(f, FAULT_LOCAL, 0, "%s port %u went down", device, port);
		return fault_fix(f, "check cable, transceiver, switch port and dmesg");
	case IBV_EVENT_DEVICE_FATAL:
		fault_raise(f, FAULT_LOCAL, 0, "%s failed", device);
		fault_cause(f, "The device reported a fatal error and stopped");
		return fault_fix(f, "check dmesg; reset the device or reload its driver");
	case IBV_EVENT_CQ_ERR:
		return fault_raise(f, FAULT_LOCAL, 0, "%s reported a CQ error (overrun)", device);
	default: /* errors of a QP are seen in its completions */
		return 0;
	}
}
