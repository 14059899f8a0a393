// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "verdict_cause.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define AT_CEILING 0.90
#define ROUNDING   1e-9

double verdict_ceiling_gbps(const struct verdict_facts *x)
{
	bool read = x->cell && x->cell->from != GDR_HOST && x->cell->into == GDR_HOST;

	return read ? x->route.path.ceiling_read_gbps : x->route.path.ceiling_write_gbps;
}

static const struct pci_link *slower_leg(const struct path *p)
{
	double nic = pci_link_gbps(&p->nic, p->payload_bytes, false);
	double gpu = pci_link_gbps(&p->gpu, p->payload_bytes, false);

	return gpu > 0 && (gpu <= nic || !(nic > 0)) ? &p->gpu : &p->nic;
}

static bool at_ceiling(const struct verdict_facts *x)
{
	double ceiling = verdict_ceiling_gbps(x);

	return ceiling > 0 && x->gbps >= ceiling * (AT_CEILING - ROUNDING);
}

/* True if the slower link, which sets the ceiling, is the one that trained down. */
static bool ceiling_is_training(const struct verdict_facts *x)
{
	return x->route.path.trained_down &&
	       !strcmp(slower_leg(&x->route.path)->pci, x->route.path.down.pci);
}

/* Append what link L, which trained down, could reach, and set the advice. */
static void trained_down(const struct pci_link *l, struct verdict_cause *c)
{
	struct pci_link could = {.gts = l->max_gts, .width = l->max_width};
	char text[48];

	text_add(c->what, sizeof(c->what), ", although both of its ends support %s",
		 pci_link_format(&could, text, sizeof(text)));
	snprintf(c->advice, sizeof(c->advice),
		 "Reseat the card at %s, and check its riser, the slot's speed in the firmware "
		 "setup, and `dmesg` for PCIe errors.",
		 l->pci);
}

/*
 * The find_*() functions each describe one possible cause in C, and return true if it applies to X.
 */
static bool find_ceiling(const struct verdict_facts *x, struct verdict_cause *c)
{
	const struct pci_link *l = slower_leg(&x->route.path);
	char text[64];

	snprintf(c->what, sizeof(c->what), "limited by PCIe %s, which carries %.1f Gb/s of payload",
		 pci_link_format(l, text, sizeof(text)), verdict_ceiling_gbps(x));
	if (ceiling_is_training(x))
		trained_down(l, c);
	else
		snprintf(c->advice, sizeof(c->advice), "Move the card at %s to a faster slot.",
			 l->pci);
	return at_ceiling(x);
}

static bool find_distance(const struct verdict_facts *x, struct verdict_cause *c)
{
	const struct path *p = &x->route.path;

	snprintf(c->what, sizeof(c->what), "the distance from GPU to NIC is %s (%s), %s",
		 path_class_name(p->class), path_class_words(p->class),
		 p->class == PATH_SYS
			 ? "where half of host memory's rate is usual, but not guaranteed"
			 : "where 80 % or more is usual");
	if (x->route.better_gpu)
		snprintf(c->advice, sizeof(c->advice), "Try %s.", x->route.better_gpu);
	else
		snprintf(c->advice, sizeof(c->advice),
			 "No GPU here is nearer to this NIC; try another NIC, or move one card so "
			 "that both are under one PCIe switch.");
	return !p->virtual_machine &&
	       (p->class == PATH_PHB || p->class == PATH_NODE || p->class == PATH_SYS);
}

static bool find_iommu(const struct verdict_facts *x, struct verdict_cause *c)
{
	snprintf(c->what, sizeof(c->what),
		 "the IOMMU translates the NIC's requests (%s), which sends them through the root "
		 "port",
		 x->route.path.iommu);
	snprintf(c->advice, sizeof(c->advice), "Boot with iommu=pt (pass-through) and compare.");
	return x->route.path.iommu_translates;
}

static bool find_training(const struct verdict_facts *x, struct verdict_cause *c)
{
	const struct pci_link *down = &x->route.path.down;
	char text[64];

	snprintf(c->what, sizeof(c->what), "a PCIe link trained down to %s",
		 pci_link_format(down, text, sizeof(text)));
	trained_down(down, c);
	/* If it is also the ceiling, find_ceiling() has reported it. */
	return x->route.path.trained_down && !(at_ceiling(x) && ceiling_is_training(x));
}

static bool find_strict(const struct verdict_facts *x, struct verdict_cause *c)
{
	snprintf(c->what, sizeof(c->what), "PCIe relaxed ordering is off");
	snprintf(c->advice, sizeof(c->advice),
		 "Run without --disable_pcie_relaxed, and check the firmware's setting.");
	return !x->route.relaxed_ordering;
}

static void unknown_cause(const struct verdict_facts *x, struct verdict_cause *c)
{
	const struct path *p = &x->route.path;

	if (p->virtual_machine)
		snprintf(c->what, sizeof(c->what),
			 "no cause was found; in a virtual machine, the PCIe distance has no "
			 "meaning");
	else
		snprintf(c->what, sizeof(c->what), "no cause was found (%s: %s)",
			 path_class_name(p->class), path_class_words(p->class));
	snprintf(c->advice, sizeof(c->advice),
		 "Compare the routes (--gpu-path dmabuf, then peermem), %s, and try larger "
		 "messages (-s) and more QPs (-q).",
		 p->virtual_machine ? "ask the provider which GPU and NIC belong together"
				    : "check whether ACS redirects requests (`lspci -vvv`, ACSCtl "
				      "ReqRedir+ on the bridges between them)");
}

unsigned verdict_causes(const struct verdict_facts *x, struct verdict_cause c[VERDICT_CAUSES_MAX])
{
	static const struct {
		const char *word;
		bool (*find)(const struct verdict_facts *x, struct verdict_cause *c);
	} known[] = {
		{"pcie_ceiling", find_ceiling},
		{"distance", find_distance},
		{"iommu", find_iommu},
		{"trained_down", find_training},
		{"relaxed_ordering", find_strict},
	};
	unsigned n = 0;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		c[n].word = known[i].word;
		n += known[i].find(x, &c[n]);
	}
	if (!n) {
		c[n].word = "unknown";
		unknown_cause(x, &c[n++]);
	}
	return n;
}
