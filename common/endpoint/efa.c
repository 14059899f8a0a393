// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What an Elastic Fabric Adapter (EFA) at this end decides: the transport. */

#include "base/phase.h"
#include "endpoint/rail.h"
#include "plan/plan.h"
#include "plan/test.h"
#include "verbs/transports.h"

/* A client that was not told which transport takes the one that P has. */
static int choose_transport(struct endpoint *ep, const struct hca_port *p)
{
	struct experiment *e = &ep->options->experiment;

	if (ep->server || options_given(ep->options, "connection") || e->mcg)
		return 0;
	e->connection = p->fabric == FABRIC_EFA ? CONNECTION_SRD : ep->test->defaults.connection;
	if (!experiment_transport(e)->efa)
		return 0;
	return plan_check(e, ep->fault) || operation_check(ep->test, e, ep->fault) ? -1 : 0;
}

static int check_transport(struct endpoint *ep, const struct hca_port *p)
{
	if (ep->server)
		fault_phase(ep->fault, PHASE_AGREE_CLIENT);
	return operation_check_fabric(&ep->options->experiment, p,
				      ep->server
					      ? "choose devices of one fabric with -d on both ends"
				      : p->fabric == FABRIC_EFA ? "use -c SRD, or omit -c"
								: "omit -c, or name an EFA with -d",
				      ep->fault);
}

int endpoint_efa_find(struct endpoint *ep, const struct hca_port *p)
{
	fault_phase(ep->fault, PHASE_DEVICE);
	if (ep->options->experiment.mcg) /* endpoint_can_group() decides */
		return 0;
	if (ep->server)
		return options_given(ep->options, "connection") ? check_transport(ep, p) : 0;
	if (choose_transport(ep, p) || check_transport(ep, p))
		return -1;
	return p->fabric == FABRIC_EFA
		       ? operation_check_device(&ep->test->operation, p, true, true, ep->fault)
		       : 0;
}

int endpoint_efa_check(struct endpoint *ep)
{
	fault_phase(ep->fault, PHASE_DEVICE);
	if (choose_transport(ep, &ep->rail[0].hca.info))
		return -1;
	for (unsigned i = 0; i < ep->rails; i++)
		if (check_transport(ep, &ep->rail[i].hca.info))
			return -1;
	return 0;
}
