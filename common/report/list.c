// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/list.h"

#include "base/phase.h"
#include "report/document.h"
#include "verbs/hca.h"

/* iWARP runs on Ethernet, but connects to iWARP only. */
const char *list_link_name(const struct hca_port *p)
{
	return p->fabric == FABRIC_IWARP ? "iWARP" : fabric_row(p->fabric)->link;
}

int list_finish(const char *program, const struct fault *f, int status)
{
	int why = outlet_flush(stdout);
	struct fault first = *f;

	fault_phase(&first, PHASE_WRITE);
	if (why)
		document_stdout_refused(FAULT_LOCAL, why, &first);
	return fault_is(&first) ? fault_print(&first, program, stderr) : status;
}
