// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "session/transport.h"

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

const char *transport_name(const struct experiment *e)
{
	static const char *const name[] = {"RC", "UC", "UD"};

	return name[e->connection];
}

uint64_t transport_quiet_ns(const struct experiment *e, uint64_t bytes)
{
	return transport_loses(e) ? QUIET_NS + bytes * QUIET_NS_PER_BYTE : 0;
}

uint64_t transport_max_bytes(const struct experiment *e, unsigned mtu_bytes, uint64_t max_bytes)
{
	return e->connection == CONNECTION_UD && mtu_bytes < max_bytes ? mtu_bytes : max_bytes;
}

/* All cells have a protocol of their own on top of one RC QP, which is polled. */
static int check_cells(const struct experiment *e, struct fault *f)
{
	const char *what = e->connection != CONNECTION_RC ? "-c/--connection"
			   : e->events                    ? "-e/--events"
			   : e->use_srq                   ? "--use-srq"
			   : e->own_cqs                   ? "--own-cqs"
							  : NULL;

	if (!what)
		return 0;
	if (e->connection != CONNECTION_RC)
		fault_raise(f, FAULT_USAGE, 0, "%s %s with all cells", what, transport_name(e));
	else
		fault_raise(f, FAULT_USAGE, 0, "%s with all cells", what);
	return fault_fix(f, "add --plain for one row, or leave it out");
}

int transport_check(const struct experiment *e, const struct test *t, struct fault *f)
{
	if (e->connection == CONNECTION_UD && t->written) {
		fault_raise(f, FAULT_USAGE, 0, "-c/--connection UD with %s", t->name);
		return fault_fix(f, "a datagram cannot write into memory: use send_%s, or UC",
				 t->latency ? "lat" : "bw");
	}
	if (e->use_srq && t->receives == RECEIVES_NONE && !e->write_with_imm) {
		fault_raise(f, FAULT_USAGE, 0, "--use-srq with %s", t->name);
		return fault_fix(f, "a write consumes no receive: use send_%s, or leave it out",
				 t->latency ? "lat" : "bw");
	}
	return t->schedule && !e->plain ? check_cells(e, f) : 0;
}

int transport_check_memory(const struct experiment *e, const struct test *t, bool immediate,
			   struct fault *f)
{
	if (!e->events || !t->latency || !t->written || immediate)
		return 0;
	fault_raise(f, FAULT_USAGE, 0, "-e/--events with %s on host memory", t->name);
	fault_cause(f, "It sees messages come by looking at memory: no event tells of that");
	return fault_fix(f, "use send_lat, or leave -e out");
}
