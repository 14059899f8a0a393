// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "plan/transport.h"

#define QUIET_NS          UINT64_C(100000000)
#define QUIET_NS_PER_BYTE 80

bool transport_loses(const struct experiment *e)
{
	return e->connection != CONNECTION_RC;
}

enum ibv_qp_type transport_type(const struct experiment *e)
{
	static const enum ibv_qp_type type[] = {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD};

	return type[e->connection];
}

uint64_t transport_quiet_ns(const struct experiment *e, uint64_t bytes)
{
	return transport_loses(e) ? QUIET_NS + bytes * QUIET_NS_PER_BYTE : 0;
}

double transport_ack_timeout_ns(const struct experiment *e)
{
	if (!e->qp_timeout || e->connection != CONNECTION_RC)
		return 0;
	return 4096 * (double)(UINT64_C(1) << e->qp_timeout);
}

uint64_t transport_max_bytes(const struct experiment *e, unsigned mtu_bytes, uint64_t max_bytes)
{
	return e->connection == CONNECTION_UD && mtu_bytes < max_bytes ? mtu_bytes : max_bytes;
}
