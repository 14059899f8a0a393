// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is wrong at one end, whichever way its data went: its link, and its PCIe link. */
#include <math.h>

#include "base/text.h"
#include "explain/during.h"
#include "explain/watched.h"

/* The link itself. Refuted by a counter that someone cleared, which is unknown here. */
static void find_link_errors(const struct run_end *end, struct findings *to)
{
	const struct {
		enum port_event event;
		enum finding_code code;
		enum finding_level level;
	} all[] = {
		{PORT_LINK_DOWNED, FINDING_LINK_WENT_DOWN, FINDING_FAULT},
		{PORT_CRC, FINDING_CORRUPT_PACKETS, FINDING_FAULT},
		{PORT_SYMBOL_ERROR, FINDING_LINK_ERRORS,
		 end->event[PORT_SYMBOL_ERROR] < FEW_ERRORS ? FINDING_NOTE : FINDING_WARN},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (end->event[all[i].event] > 0)
			finding_add(to, &(struct finding_facts){
						.code = all[i].code,
						.level = all[i].level,
						.end = end->name,
						.value = {watched_event(end, all[i].event)}});
}

/*
 * The PCIe link: of the adapter, and of the port above it. Refuted by counters that stand still;
 * they are the slot's alone, so nobody else's traffic makes them grow.
 */
static void find_pci_errors(const struct run_end *end, struct findings *to)
{
	static const char *const names[] = {"correctable", "nonfatal", "fatal"};
	static const enum port_event events[2][3] = {
		{PORT_PCI_CORRECTABLE, PORT_PCI_NONFATAL, PORT_PCI_FATAL},
		{PORT_UPSTREAM_CORRECTABLE, PORT_UPSTREAM_NONFATAL, PORT_UPSTREAM_FATAL},
	};
	struct finding_facts f = {.code = FINDING_PCIE_ERRORS_GROW, .end = end->name};
	double count[3];
	char errors[128] = "";
	unsigned n = 0;

	for (int i = 0; i < 3; i++) {
		/* of both ends of the link; what is not known counts as none */
		count[i] = fmax(end->event[events[0][i]], 0) + fmax(end->event[events[1][i]], 0);
		if (count[i] > 0)
			text_add(errors, sizeof(errors), "%s%.0f %s", errors[0] ? " and " : "",
				 count[i], names[i]);
		for (int at = 0; at < 2; at++)
			if (!isnan(end->event[events[at][i]]))
				f.value[n++] = watched_event(end, events[at][i]);
	}
	if (!errors[0])
		return;
	f.level = count[2] > 0                             ? FINDING_FAULT
		  : count[1] > 0 || count[0] >= FEW_ERRORS ? FINDING_WARN
							   : FINDING_NOTE;
	f.value[n++] = (struct finding_value)FINDING_WORD("errors", errors);
	f.value[n] =
		(struct finding_value)FINDING_WORD(f.level == FINDING_NOTE ? "few" : "many", "");
	finding_add(to, &f);
}

void explain_end(const struct run_end *end, struct findings *to)
{
	find_link_errors(end, to);
	find_pci_errors(end, to);
}
