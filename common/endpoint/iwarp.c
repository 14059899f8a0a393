// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Restrictions and differences of an iWARP device at this end. */
#include <errno.h>

#include "base/text.h"
#include "endpoint/endpoint.h"

const struct hca_port *endpoint_iwarp(const struct endpoint *ep)
{
	for (unsigned i = 0; i < ep->rails; i++)
		if (rail_is_iwarp(&ep->rail[i]))
			return &ep->rail[i].hca.info;
	return NULL;
}

/* That perftest's lines have them is no reason to refuse them. */
const char *endpoint_iwarp_idle(const struct endpoint *ep, char *buf, size_t size)
{
	static const char *const names[] = {"mtu",         "sl",        "qp-timeout",
					    "retry_count", "hop_limit", "flow_label"};

	buf[0] = '\0';
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && endpoint_iwarp(ep); i++)
		if (options_given(ep->options, names[i]))
			text_add(buf, size, "%s--%s", buf[0] ? ", " : "", names[i]);
	return buf[0] ? buf : NULL;
}

int endpoint_iwarp_check(struct endpoint *ep)
{
	const struct hca_port *p = endpoint_iwarp(ep);
	struct experiment *e = &ep->options->experiment;
	struct operation_iwarp on = {.ipv6 = ep->options->local.ipv6, .own_schedule = ep->own_schedule};

	if (!p)
		return 0;
	fault_phase(ep->fault, "choosing the device");
	on.device = p->device;
	if (operation_check_iwarp(&ep->test->operation, e, &on, ep->fault))
		return -1;
	e->rdma_cm = 1;
	return 0;
}

int endpoint_iwarp_first(struct endpoint *ep, struct stop *stop)
{
	uint64_t deadline_ns = clock_now_ns() + ep->options->local.timeout_ns;

	for (unsigned i = 0; i < ep->workers; i++) {
		struct worker *t = &ep->worker[i];

		if (rail_is_iwarp(t->rail) &&
		    cm_first_post(&t->qps, t->out, t->mem.lkey, ep->fault))
			return -1;
	}
	for (unsigned i = 0; i < ep->workers; i++) {
		unsigned sent = 0;
		int rc = !rail_is_iwarp(ep->worker[i].rail);

		while (!rc && !stop->signal) {
			rc = cm_first_poll(&ep->worker[i].qps, &sent, ep->fault);
			if (!rc && clock_now_ns() > deadline_ns) {
				fault_raise(ep->fault, FAULT_DEADLINE, ETIMEDOUT,
					    "waiting for a WRITE of 0 bytes to complete");
				return fault_fix(ep->fault, "check dmesg on both hosts");
			}
			stop_drain(stop);
		}
		if (rc < 0)
			return -1;
	}
	return stop->signal ? stop_raise(stop, ep->fault) : 0;
}
