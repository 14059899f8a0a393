// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is wrong at one end, whichever way its data went: its link, and its PCIe link. */
#include <math.h>

#include "base/text.h"
#include "explain/during.h"

#define FEW_ERRORS 10 /* of a link: one or two happen */

void during_set(struct finding *f, const struct run_end *end, double share, enum port_event event)
{
	f->end = end->name;
	f->share = share > 1 ? 1 : share;
	finding_evidence(f, port_event_name(event), end->event[event], port_event_unit(event));
}

/* The link itself. Refuted by a counter that someone cleared, which is unknown here. */
static void find_link_errors(const struct run_end *end, struct findings *to)
{
	double downed = end->event[PORT_LINK_DOWNED], errors = end->event[PORT_SYMBOL_ERROR];
	double corrupt = end->event[PORT_CRC];
	struct finding *f;

	if (downed > 0) {
		f = finding_add(to, "link_went_down", FINDING_FAULT,
				"the link of the %s's port went down %.0f times during the run",
				end->name, downed);
		finding_next(f, "check the cable, the transceivers and the switch port's log");
		during_set(f, end, NAN, PORT_LINK_DOWNED);
	}
	if (corrupt > 0) {
		f = finding_add(to, "corrupt_packets", FINDING_FAULT,
				"%.0f packets reached the %s's port with a wrong ICRC", corrupt,
				end->name);
		finding_cause(f, "Data changed between two links: in the memory of a switch or a "
				 "NIC, not on a cable");
		finding_next(f, "check the switches' error logs; run with --verify");
		during_set(f, end, NAN, PORT_CRC);
	}
	if (errors > 0) {
		f = finding_add(to, "link_errors",
				errors < FEW_ERRORS ? FINDING_NOTE : FINDING_WARN,
				"the %s's port counted %.0f symbols or frames with errors",
				end->name, errors);
		finding_cause(f, "A dirty or bent cable, or a bad transceiver");
		finding_next(f, "clean or replace the cable and the transceivers");
		during_set(f, end, NAN, PORT_SYMBOL_ERROR);
	}
}

/* PCIe's errors of the adapter, and of the port above it. */
static const enum port_event pci_events[2][3] = {
	{PORT_PCI_CORRECTABLE, PORT_PCI_NONFATAL, PORT_PCI_FATAL},
	{PORT_UPSTREAM_CORRECTABLE, PORT_UPSTREAM_NONFATAL, PORT_UPSTREAM_FATAL},
};

/* Its errors of this kind at both ends of the link; what is not known counts as none. */
static double pci_errors(const struct run_end *end, int kind)
{
	return fmax(end->event[pci_events[0][kind]], 0) + fmax(end->event[pci_events[1][kind]], 0);
}

/*
 * The PCIe link. Refuted by counters that stand still; they are the slot's alone, so nobody else's
 * traffic makes them grow.
 */
static void find_pci_errors(const struct run_end *end, struct findings *to)
{
	static const char *const names[] = {"correctable", "nonfatal", "fatal"};
	double count[3] = {pci_errors(end, 0), pci_errors(end, 1), pci_errors(end, 2)};
	enum finding_level level = count[2] > 0                             ? FINDING_FAULT
				   : count[1] > 0 || count[0] >= FEW_ERRORS ? FINDING_WARN
									    : FINDING_NOTE;
	const char *before = "";
	struct finding *f;

	if (!(count[0] + count[1] + count[2] > 0))
		return;
	f = finding_add(to, "pcie_errors_grow", level, "the %s's PCIe link had ", end->name);
	f->end = end->name;
	for (int i = 0; i < 3; i++) {
		if (!(count[i] > 0))
			continue;
		text_add(f->text, sizeof(f->text), "%s%.0f %s", before, count[i], names[i]);
		before = " and ";
	}
	text_add(f->text, sizeof(f->text), " errors during the run");
	finding_cause(f, "A bad contact, a riser or a retimer: what is damaged is sent again");
	finding_next(f, level == FINDING_NOTE
				? "measure again: do they grow in each run?"
				: "reseat the adapter and check the riser; aer_dev_* in "
				  "/sys/bus/pci/devices says of which kind they are");
	for (int at = 0; at < 2; at++)
		for (int i = 0; i < 3; i++)
			if (!isnan(end->event[pci_events[at][i]]))
				finding_evidence(f, port_event_name(pci_events[at][i]),
						 end->event[pci_events[at][i]], "");
}

void explain_end(const struct run_end *end, struct findings *to)
{
	find_link_errors(end, to);
	find_pci_errors(end, to);
}
