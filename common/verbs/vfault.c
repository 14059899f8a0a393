// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "verbs/vfault.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/units.h"

int vfault_errno(int rc)
{
	if (rc == -1 && errno)
		return errno;
	return rc < 0 ? -rc : rc;
}

/* What this process has pinned so far, by /proc/self/status; 0 if that does not say. */
static size_t pinned_bytes_now(void)
{
	unsigned long long kib = 0;
	char line[128];
	FILE *in = fopen("/proc/self/status", "re");

	while (in && fgets(line, sizeof(line), in))
		if (sscanf(line, "VmPin: %llu kB", &kib) == 1)
			break;
	if (in)
		fclose(in);
	return (size_t)kib * 1024;
}

/* ENOMEM on pinned memory: the usual reason is the limit, not the memory. */
static void memory_cause(struct fault *f, size_t bytes)
{
	size_t now = pinned_bytes_now();
	struct rlimit limit;
	char have[32], want[32], is[32];

	if (getrlimit(RLIMIT_MEMLOCK, &limit))
		return;
	units_format_size(limit.rlim_cur, have, sizeof(have));
	units_format_size(bytes, want, sizeof(want));
	if (limit.rlim_cur == RLIM_INFINITY || now + bytes <= limit.rlim_cur) {
		fault_cause(f,
			    "RLIMIT_MEMLOCK (%s) allows the %s that the call pins, so the host or "
			    "the device is out of memory for it",
			    limit.rlim_cur == RLIM_INFINITY ? "unlimited" : have, want);
		fault_fix(f,
			  "use fewer QPs (-q), smaller messages (-s) or smaller depths (-t, -r)");
		return;
	}
	fault_cause(f, "RLIMIT_MEMLOCK is %s; the call pins %s, and %s is pinned already", have,
		    want, units_format_size(now, is, sizeof(is)));
	fault_fix(f, "ulimit -l unlimited, or memlock in limits.conf, or LimitMEMLOCK= of the "
		     "service");
}

static void common_cause(struct fault *f, int errnum)
{
	switch (errnum) {
	case ENODEV:
	case EIO:
		fault_cause(f, "The device is gone or in a fatal state");
		fault_fix(f, "look at dmesg; reset the device or reload its driver");
		break;
	case EPERM:
	case EACCES:
		fault_cause(f, "This user may not do it");
		fault_fix(
			f,
			"allow access to /dev/infiniband/uverbs*; in a container pass it through");
		break;
	case EMFILE:
	case ENFILE:
		fault_cause(f, "Too many open files");
		fault_fix(f, "ulimit -n, or fewer QPs");
		break;
	case EOPNOTSUPP:
	case ENOSYS:
		fault_cause(f, "The device or its driver does not support it");
		fault_fix(f, "update the driver and rdma-core, or choose another device with -d");
		break;
	default:
		break;
	}
}

int vfault_raise(struct fault *f, int errnum, size_t pinned_bytes, const char *call, ...)
{
	char text[192];
	va_list ap;

	va_start(ap, call);
	vsnprintf(text, sizeof(text), call, ap);
	va_end(ap);
	if (fault_is(f))
		return -1;
	fault_raise(f, FAULT_LOCAL, errnum, "%s", text);
	if (errnum == ENOMEM && pinned_bytes)
		memory_cause(f, pinned_bytes);
	else
		common_cause(f, errnum);
	return -1;
}

int vfault_completion(struct fault *f, enum ibv_wc_status status, uint32_t vendor_err,
		      uint32_t qp_num, const char *what)
{
	if (fault_is(f))
		return -1;
	fault_raise(f,
		    status == IBV_WC_RETRY_EXC_ERR || status == IBV_WC_REM_ABORT_ERR ? FAULT_PEER
										     : FAULT_LOCAL,
		    0, "%s on QP 0x%06x completed with \"%s\" (status %d, vendor error 0x%x)", what,
		    qp_num, ibv_wc_status_str(status), (int)status, vendor_err);
	switch (status) {
	case IBV_WC_RETRY_EXC_ERR:
		fault_cause(
			f,
			"The peer's NIC sends no ACK: the peer is gone, or packets are lost or blocked on the way");
		return fault_fix(
			f,
			"check the route between the two GIDs, the firewall (RoCE v2 is UDP port 4791), the MTU "
			"of the switches, and pause or ECN settings");
	case IBV_WC_RNR_RETRY_EXC_ERR:
		fault_cause(f, "The receiver had no receive posted");
		return fault_fix(f, "give a larger --rx-depth");
	case IBV_WC_REM_ACCESS_ERR:
	case IBV_WC_REM_INV_REQ_ERR:
	case IBV_WC_REM_OP_ERR:
		fault_cause(
			f,
			"The peer's NIC refused the access: wrong rkey, address or rights, or it failed to do it");
		return fault_fix(f, "look at dmesg on the peer");
	case IBV_WC_LOC_PROT_ERR:
	case IBV_WC_LOC_LEN_ERR:
	case IBV_WC_LOC_QP_OP_ERR:
		fault_cause(
			f,
			"This end's NIC could not access its own buffer or found the request malformed; with "
			"GPU memory: PCIe transfers between NIC and GPU are blocked on the way");
		return fault_fix(f, "look at dmesg; with GPU memory use a GPU under the NIC's PCIe "
				    "switch, or --gpu-path staged");
	case IBV_WC_WR_FLUSH_ERR:
		return fault_cause(f, "The QP had failed before; the request was flushed");
	default:
		return fault_fix(f, "look at dmesg on both hosts");
	}
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
		return fault_fix(f, "look at dmesg; reset the device or reload its driver");
	case IBV_EVENT_CQ_ERR:
		return fault_raise(f, FAULT_LOCAL, 0, "%s reported a CQ error (overrun)", device);
	default: /* what concerns a QP is told by its completions */
		return 0;
	}
}
