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

int list_finish(FILE *out, const char *program)
{
	struct fault f = {0};
	int why = outlet_flush(out);

	if (!why)
		return 0;
	fault_phase(&f, PHASE_WRITE);
	document_stdout_refused(FAULT_LOCAL, why, &f);
	fault_print(&f, program, stderr);
	return fault_exit_status(&f);
}
