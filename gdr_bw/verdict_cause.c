// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "verdict_cause.h"

#include <string.h>

#include "base/text.h"

#define AT_CEILING 0.90
#define ROUNDING   1e-9

double verdict_ceiling_gbps(const struct verdict_facts *x)
{
	return x->cell == VERDICT_READ ? x->path.ceiling_read_gbps : x->path.ceiling_write_gbps;
}

static const struct path_link *slower_leg(const struct path *p)
{
	double nic = path_link_gbps(&p->nic, p->payload_bytes, false);
	double gpu = path_link_gbps(&p->gpu, p->payload_bytes, false);

	return gpu > 0 && (gpu <= nic || !(nic > 0)) ? &p->gpu : &p->nic;
}

static bool at_ceiling(const struct verdict_facts *x)
{
	double ceiling = verdict_ceiling_gbps(x);

	return ceiling > 0 && x->gbps >= ceiling * (AT_CEILING - ROUNDING);
}

static bool is_trained_down(const struct verdict_facts *x)
{
	return x->path.trained_down;
}

/* The link that sets the ceiling is the one that trained down. */
static bool ceiling_is_training(const struct verdict_facts *x)
{
	return x->path.trained_down && !strcmp(slower_leg(&x->path)->pci, x->path.down.pci);
}

static void say_could(const struct path_link *l, char *line, size_t size)
{
	struct path_link could = {.gts = l->max_gts, .width = l->max_width};
	char text[48];

	text_add(line, size, "though both of its ends can do %s",
		 path_link_format(&could, text, sizeof(text)));
}

static void say_ceiling(const struct verdict_facts *x, char *line, size_t size)
{
	const struct path_link *l = slower_leg(&x->path);
	char text[64];

	text_add(line, size, "limited by PCIe %s, which carries %.1f Gb/s of payload",
		 path_link_format(l, text, sizeof(text)), verdict_ceiling_gbps(x));
	if (ceiling_is_training(x)) {
		text_add(line, size, ", ");
		say_could(l, line, size);
	}
}

static void advise_training(const struct verdict_facts *x, char *next, size_t size)
{
	text_add(next, size,
		 "Reseat the card at %s, look at its riser and at the slot's speed in the firmware "
		 "setup, and at `dmesg` for PCIe errors.",
		 x->path.down.pci);
}

static void advise_ceiling(const struct verdict_facts *x, char *next, size_t size)
{
	if (ceiling_is_training(x))
		advise_training(x, next, size);
	else
		text_add(next, size, "A faster slot for the card at %s is what would help.",
			 slower_leg(&x->path)->pci);
}

static bool is_far(const struct verdict_facts *x)
{
	const struct path *p = &x->path;

	return !p->virtual_machine &&
	       (p->class == PATH_PHB || p->class == PATH_NODE || p->class == PATH_SYS);
}

static void say_distance(const struct verdict_facts *x, char *line, size_t size)
{
	const char *expect = "where 80 % and more is usual";

	if (x->path.class == PATH_SYS)
		expect = "where half of host memory's rate is usual and nothing is promised";
	text_add(line, size, "GPU is %s from NIC (%s), %s", path_class_name(x->path.class),
		 path_class_words(x->path.class), expect);
}

static void advise_distance(const struct verdict_facts *x, char *next, size_t size)
{
	if (x->better_gpu)
		text_add(next, size, "Try %s.", x->better_gpu);
	else
		text_add(
			next, size,
			"No GPU here is nearer to this NIC; try another NIC, or move one card so that "
			"both are behind one PCIe switch.");
}

static bool is_translated(const struct verdict_facts *x)
{
	return x->path.iommu_translates;
}

static void say_iommu(const struct verdict_facts *x, char *line, size_t size)
{
	text_add(line, size,
		 "the IOMMU translates what the NIC asks for (%s), which takes it by way of "
		 "the root port",
		 x->path.iommu);
}

static void advise_iommu(const struct verdict_facts *x, char *next, size_t size)
{
	(void)x;
	text_add(next, size, "Boot with iommu=pt (pass-through) and compare.");
}

static void say_training(const struct verdict_facts *x, char *line, size_t size)
{
	char text[64];

	text_add(line, size, "a PCIe link trained down to %s, ",
		 path_link_format(&x->path.down, text, sizeof(text)));
	say_could(&x->path.down, line, size);
}

static bool is_strict(const struct verdict_facts *x)
{
	return !x->relaxed_ordering;
}

static void say_strict(const struct verdict_facts *x, char *line, size_t size)
{
	(void)x;
	text_add(line, size, "PCIe relaxed ordering is off");
}

static void advise_strict(const struct verdict_facts *x, char *next, size_t size)
{
	(void)x;
	text_add(next, size,
		 "Run without --disable_pcie_relaxed, and look at the firmware's setting.");
}

static bool always(const struct verdict_facts *x)
{
	(void)x;
	return true;
}

static void say_unknown(const struct verdict_facts *x, char *line, size_t size)
{
	if (x->path.virtual_machine)
		text_add(line, size,
			 "no cause was found; in a virtual machine the PCIe distance means "
			 "nothing");
	else
		text_add(line, size, "no cause was found (%s: %s)", path_class_name(x->path.class),
			 path_class_words(x->path.class));
}

static void advise_unknown(const struct verdict_facts *x, char *next, size_t size)
{
	text_add(next, size, "Compare the routes (--gpu-path dmabuf, then peermem), ");
	if (x->path.virtual_machine)
		text_add(next, size, "ask the provider which GPU and NIC belong together, ");
	else
		text_add(next, size,
			 "look whether ACS redirects (`lspci -vvv`, ACSCtl ReqRedir+ on the "
			 "bridges between them), ");
	text_add(next, size, "and try larger messages (-s) and more QPs (-q).");
}

/* clang-format off */
static const struct verdict_cause causes[] = {
	{"pcie_ceiling",     at_ceiling,      say_ceiling,  advise_ceiling},
	{"distance",         is_far,          say_distance, advise_distance},
	{"iommu",            is_translated,   say_iommu,    advise_iommu},
	{"trained_down",     is_trained_down, say_training, advise_training},
	{"relaxed_ordering", is_strict,       say_strict,   advise_strict},
	{"unknown",          always,          say_unknown,  advise_unknown},
};
/* clang-format on */

const struct verdict_cause *verdict_cause_first(const struct verdict_facts *x)
{
	const struct verdict_cause *c = causes;

	while (!c->fits(x))
		c++;
	return c;
}

void verdict_cause_others(const struct verdict_facts *x, const struct verdict_cause *cause,
			  char *next, size_t size)
{
	const struct verdict_cause *last = &causes[sizeof(causes) / sizeof(causes[0]) - 1];

	for (const struct verdict_cause *c = cause + 1; c < last; c++) {
		if (!c->fits(x) || (c->fits == is_trained_down && cause->fits == at_ceiling &&
				    ceiling_is_training(x)))
			continue;
		text_add(next, size, " Also: ");
		c->say(x, next, size);
		text_add(next, size, ".");
	}
}
