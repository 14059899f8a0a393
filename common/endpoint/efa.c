// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What an Elastic Fabric Adapter (EFA) at this end decides: the transport. */

#include "base/phase.h"
#include "endpoint/rail.h"
#include "plan/plan.h"
#include "plan/test.h"
#include "verbs/transports.h"

int endpoint_efa_choose(struct endpoint *ep, const struct hca_port *p)
{
	struct experiment *e = &ep->options->experiment;

	if (ep->server || options_given(ep->options, "connection") || e->mcg)
		return 0;
	e->connection = p->fabric == FABRIC_EFA ? CONNECTION_SRD : ep->test->defaults.connection;
	if (!experiment_transport(e)->efa)
		return 0;
	return plan_check(e, ep->fault) || operation_check(ep->test, e, ep->fault) ? -1 : 0;
}

int endpoint_efa_check(struct endpoint *ep, const struct hca_port *p)
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
