// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The way of a cell's data, and what on it may make GPU memory slower than host memory. */
#include "verdict.h"

#include <string.h>

#include "finding/thresholds.h"

#define LINE_EFFICIENCY 0.95
#define AT_CEILING      0.90
#define ROUNDING        1e-9

/* An unknown path counts as the nearest, so that it is never chosen over a known one. */
static int path_distance(enum path_class c)
{
	return c == PATH_UNKNOWN ? -1 : (int)c;
}

static void add_link(struct verdict_way *w, const struct gdr_side *side, double ceiling)
{
	if (!(ceiling > 0) || gdr_least(w->ceiling_gbps, ceiling) == w->ceiling_gbps)
		return;
	w->ceiling_gbps = ceiling;
	w->narrow = side;
}

static void add_gpu(struct verdict_way *w, const struct gdr_side *side, double ceiling)
{
	add_link(w, side, ceiling);
	w->relaxed_ordering &= side->relaxed_ordering;
	if (!w->side || path_distance(side->path.class) > path_distance(w->side->path.class))
		w->side = side;
}

static double nic_ceiling(const struct gdr_side *side)
{
	return pci_link_gbps(&side->path.nic, side->path.payload_bytes, false);
}

struct verdict_way verdict_way(const struct gdr_cell *c, const struct gdr_side *const side[2])
{
	struct verdict_way w = {.relaxed_ordering = true};
	const struct gdr_side *source = c ? side[c->reverse] : NULL;
	const struct gdr_side *sink = c ? side[!c->reverse] : NULL;

	if (c && !gdr_cell_is_direct(c)) {
		add_link(&w, source, nic_ceiling(source));
		add_link(&w, sink, nic_ceiling(sink));
	} else if (c) {
		if (c->from != GDR_HOST)
			add_gpu(&w, source, source->path.ceiling_read_gbps);
		if (c->into != GDR_HOST)
			add_gpu(&w, sink, sink->path.ceiling_write_gbps);
	}
	return w;
}

double verdict_expect(const struct verdict_facts *x, const struct gdr_cell *c, const char **from)
{
	double line = x->given ? x->given_gbps : LINE_EFFICIENCY * x->line_gbps;
	double ceiling = PCIE_SHARE * verdict_way(c, x->side).ceiling_gbps;
	double expected = gdr_least(line, ceiling);

	*from = "";
	if ((x->given && !(line > 0)) || !(expected > 0))
		return 0;
	*from = expected < line || !(line > 0) ? "PCIe"
		: x->given                     ? "--expected-gbps"
					       : "line rate";
	return expected;
}

static const struct pci_link *slower_leg(const struct path *p)
{
	double nic = pci_link_gbps(&p->nic, p->payload_bytes, false);
	double gpu = pci_link_gbps(&p->gpu, p->payload_bytes, false);

	return gpu > 0 && (gpu <= nic || !(nic > 0)) ? &p->gpu : &p->nic;
}

/* Link L of path P is why: if it trained down, the finding says what it could be. */
static void add_link_cause(struct findings *to, enum finding_code code, const struct path *p,
			   const struct pci_link *l, double ceiling)
{
	struct pci_link could = {.gts = l->max_gts, .width = l->max_width};
	bool down = p->trained_down && strcmp(l->pci, p->down.pci) == 0;
	char link[64], best[48];

	pci_link_format(l, link, sizeof(link));
	pci_link_format(&could, best, sizeof(best));
	finding_add(to, &(struct finding_facts){
				.code = code,
				.level = FINDING_WARN,
				.strength = FINDING_MAY_BE,
				.value = {FINDING_NUMBER("ceiling", ceiling, "Gb/s"),
					  FINDING_WORD("link", link),
					  FINDING_WORD(down ? "could" : "cannot", best),
					  FINDING_WORD(down ? "down" : "pci", l->pci)}});
}

static void add_distance(struct findings *to, const struct gdr_side *side)
{
	enum path_class class = side->path.class;

	if (side->path.virtual_machine ||
	    (class != PATH_PHB && class != PATH_NODE && class != PATH_SYS))
		return;
	finding_add(to, &(struct finding_facts){
				.code = GDR_DISTANCE,
				.level = FINDING_WARN,
				.strength = FINDING_MAY_BE,
				.value = {FINDING_WORD("class", path_class_name(class)),
					  FINDING_WORD("words", path_class_words(class)),
					  FINDING_WORD(class == PATH_SYS ? "sys" : "near", ""),
					  FINDING_WORD(side->better_gpu[0] ? "better" : "best",
						       side->better_gpu)}});
}

void verdict_causes(const struct verdict_way *w, double gbps, struct findings *to)
{
	const struct path *p = &w->side->path, *narrow = w->narrow ? &w->narrow->path : NULL;
	bool at_ceiling = narrow && gbps >= w->ceiling_gbps * (AT_CEILING - ROUNDING);
	const struct pci_link *limit = at_ceiling ? slower_leg(narrow) : NULL;
	struct finding_facts f = {.level = FINDING_WARN, .strength = FINDING_MAY_BE};

	if (limit)
		add_link_cause(to, GDR_PCIE_CEILING, narrow, limit, w->ceiling_gbps);
	add_distance(to, w->side);
	if (p->iommu_translates) {
		f.code = GDR_IOMMU;
		f.value[0] = (struct finding_value)FINDING_WORD("type", p->iommu);
		finding_add(to, &f);
	}
	/* If that link is the limit, it was named already. */
	if (p->trained_down && !(limit && !strcmp(limit->pci, p->down.pci)))
		add_link_cause(to, GDR_TRAINED_DOWN, p, &p->down, NAN);
	if (!w->relaxed_ordering) {
		f.code = GDR_RELAXED_ORDERING;
		finding_add(to, &f);
	}
	if (to->count)
		return;
	f.code = GDR_UNKNOWN;
	f.value[0] = (struct finding_value)FINDING_WORD(
		"class", p->virtual_machine ? "virtual machine" : path_class_name(p->class));
	f.value[1] = (struct finding_value)FINDING_WORD(
		"words", p->virtual_machine ? "the PCIe distance has no meaning"
					    : path_class_words(p->class));
	finding_add(to, &f);
}
