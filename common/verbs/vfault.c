// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "verbs/vfault.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/cgroup.h"
#include "base/units.h"
#include "host/sysfs.h"

/* Soft-RoCE's driver makes messages longer when an ACK is late; rdmark(7) explains that. */
#define SOFT_ROCE "with soft-RoCE, use --qp-timeout 18 (rdmark(7), Soft-RoCE)"

/* Explain ENOMEM of a call that pins BYTES: the usual cause is RLIMIT_MEMLOCK, not the lack of
 * memory. */
static void explain_memory(struct fault *f, size_t bytes)
{
	size_t now = sysfs_proc_bytes("/proc/self/status", "VmPin");
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit))
		return;
	if (limit.rlim_cur == RLIM_INFINITY || now + bytes <= limit.rlim_cur) {
		fault_cause(
			f,
			"RLIMIT_MEMLOCK (%s) is not the cause: the host or the device is out of "
			"memory for the %s that the call pins",
			limit.rlim_cur == RLIM_INFINITY ? "unlimited"
							: units_size(limit.rlim_cur).text,
			units_size(bytes).text);
		fault_fix(f, "use fewer QPs (-q), smaller messages (-s) or smaller depths (-t, "
			     "-r)");
		return;
	}
	fault_cause(f, "RLIMIT_MEMLOCK is %s; the call pins %s, and %s is already pinned",
		    units_size(limit.rlim_cur).text, units_size(bytes).text, units_size(now).text);
	fault_fix(f, "ulimit -l unlimited, or raise memlock in limits.conf or LimitMEMLOCK= of the "
		     "service");
}

/* EAGAIN of a call that makes something: so a limit of the cgroup L says. */
static void explain_cgroup(struct fault *f, const struct cgroup_limit *l)
{
	fault_cause(f,
		    "The cgroup is limited to %s (rdma.max): a device opened is a hca_handle, each "
		    "PD, CQ, QP and MR a hca_object",
		    l->text);
	fault_fix(f, "raise rdma.max of /sys/fs/cgroup%s, or use fewer QPs (-q)", l->dir);
}

/* Cause and fix (may be NULL) for up to 3 errnos or completion statuses. */
struct verbs_error {
	int number[3];
	const char *cause, *fix;
};

/* Add cause and fix for the errno or status WHAT from the COUNT entries of M. Returns -1. */
static int explain_verbs_error(struct fault *f, const struct verbs_error *m, size_t count, int what)
{
	for (const struct verbs_error *end = m + count; m < end; m++)
		for (unsigned k = 0; k < 3 && m->number[k]; k++)
			if (m->number[k] == what) {
				fault_cause(f, "%s", m->cause);
				return m->fix ? fault_fix(f, "%s", m->fix) : -1;
			}
	return -1;
}

static const struct verbs_error errno_errors[] = {
	{{ENODEV, EIO},
	 "The device was removed or is in a fatal state",
	 "check dmesg; reset the device or reload its driver"},
	{{EPERM, EACCES},
	 "This user lacks the permission",
	 "allow access to /dev/infiniband/uverbs*; in a container, pass it through"},
	{{EMFILE, ENFILE},
	 "The process or the system has too many open files",
	 "raise the limit on open files (ulimit -n), or use fewer QPs"},
	{{EOPNOTSUPP, ENOSYS},
	 "The device or its driver does not support the call",
	 "update the driver and rdma-core, or choose another device with -d"},
};

static const struct verbs_error status_errors[] = {
	{{IBV_WC_RETRY_EXC_ERR},
	 "The peer's NIC sends no ACK: the peer is gone, or packets are lost or blocked",
	 "check the route between the two GIDs, the firewall (RoCE v2 uses UDP port 4791), the MTU "
	 "of the switches, and pause or ECN settings"},
	{{IBV_WC_RESP_TIMEOUT_ERR},
	 "The peer's EFA does not answer: the peer is gone, or packets are blocked",
	 "check that both ends are in one subnet, and that their security group allows all traffic "
	 "of its own members, out and in"},
	{{IBV_WC_REM_INV_RD_REQ_ERR}, "The peer's QP is gone, or in the error state",
	 "see what the peer printed"},
	{{IBV_WC_RNR_RETRY_EXC_ERR},
	 "The receiver had no receive request posted",
	 "use a larger --rx-depth"},
	{{IBV_WC_REM_ACCESS_ERR},
	 "The peer's NIC refused the access: the rkey, the address or the access rights are wrong",
	 "check dmesg on the peer"},
	{{IBV_WC_REM_INV_REQ_ERR, IBV_WC_REM_OP_ERR},
	 "The peer's NIC could not execute the request: the message is longer than the receive "
	 "buffer, packets came out of order, or the NIC does not support the operation",
	 "check dmesg on the peer; " SOFT_ROCE},
	{{IBV_WC_LOC_PROT_ERR, IBV_WC_LOC_LEN_ERR, IBV_WC_LOC_QP_OP_ERR},
	 "This end's NIC could not access its buffer, or the request is malformed",
	 "check dmesg; " SOFT_ROCE},
	{{IBV_WC_WR_FLUSH_ERR}, "The QP failed earlier, and the request was flushed", NULL},
};

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
		explain_cgroup(f, &l);
	else
		explain_verbs_error(f, errno_errors, sizeof(errno_errors) / sizeof(errno_errors[0]),
				    errnum);
	return -1;
}

int vfault_completion(struct fault *f, enum ibv_wc_status status, uint32_t vendor_err,
		      uint32_t qp_num, const char *what)
{
	if (fault_is(f))
		return -1;
	fault_raise(f,
		    status == IBV_WC_RETRY_EXC_ERR || status == IBV_WC_REM_ABORT_ERR ||
				    status == IBV_WC_RESP_TIMEOUT_ERR ||
				    status == IBV_WC_REM_INV_RD_REQ_ERR
			    ? FAULT_PEER
			    : FAULT_LOCAL,
		    0, "%s on QP 0x%06x completed with \"%s\" (status %d, vendor error 0x%x)", what,
		    qp_num, ibv_wc_status_str(status), (int)status, vendor_err);
	snprintf(f->completion, sizeof(f->completion), "%s", ibv_wc_status_str(status));
	f->vendor_error = vendor_err;
	explain_verbs_error(f, status_errors, sizeof(status_errors) / sizeof(status_errors[0]),
			    (int)status);
	return f->cause[0] ? -1 : fault_fix(f, "check dmesg on both hosts");
}

void vfault_of_gpu(struct fault *f, enum ibv_wc_status status, bool here, bool there)
{
	here = here && (status == IBV_WC_LOC_PROT_ERR || status == IBV_WC_WR_FLUSH_ERR);
	there = there && (status == IBV_WC_REM_ACCESS_ERR || status == IBV_WC_REM_OP_ERR);
	if (!here && !there)
		return;
	f->cause[0] = f->fix[0] = '\0';
	fault_cause(f,
		    "The message is in GPU memory, which could be registered: probably %s NIC "
		    "cannot access it, because of the IOMMU, ACS on the PCIe bridges, or a BAR of "
		    "the GPU above the addresses that the NIC can use",
		    here ? "this end's" : "the peer's");
	fault_fix(f, "does the same command without --gpu work? Then boot with iommu=pt, disable "
		     "ACS on the bridges, place the BAR lower (BIOS), or use a GPU under the NIC's "
		     "PCIe switch; gdr_bw measures the way through host memory, too");
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
