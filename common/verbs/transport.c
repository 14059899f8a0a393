// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "verbs/transport.h"

#define QUIET_NS          UINT64_C(100000000)
#define QUIET_NS_PER_BYTE 80

const struct transport *transport_of(uint64_t connection)
{
	static const struct transport *(*const transports[CONNECTIONS])(void) = {
		[CONNECTION_RC] = transport_rc,
		[CONNECTION_UC] = transport_uc,
		[CONNECTION_UD] = transport_ud,
		[CONNECTION_SRD] = transport_srd,
	};

	return transports[connection]();
}

uint64_t transport_quiet_ns(const struct transport *t, uint64_t bytes)
{
	return t->reliable ? 0 : QUIET_NS + bytes * QUIET_NS_PER_BYTE;
}

double transport_ack_timeout_ns(const struct transport *t, uint64_t qp_timeout)
{
	return qp_timeout && t->to_rts & IBV_QP_TIMEOUT ? 4096 * (double)(UINT64_C(1) << qp_timeout)
							: 0;
}

uint64_t transport_max_bytes(const struct transport *t, uint64_t mtu_bytes, uint64_t port_bytes)
{
	return t->one_packet && mtu_bytes < port_bytes ? mtu_bytes : port_bytes;
}
