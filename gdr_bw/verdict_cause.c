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

/* Count END of the way in, where the data are in GPU memory or the host's; SINK: they arrive there.
 */
static void add_end(struct verdict_way *w, const struct gdr_side *end, bool gpu, bool sink)
{
	double ceiling = !gpu   ? pci_link_gbps(&end->path.nic, end->path.payload_bytes, false)
			 : sink ? end->path.ceiling_write_gbps
				: end->path.ceiling_read_gbps;

	if (ceiling > 0 && !(w->ceiling_gbps > 0 && w->ceiling_gbps <= ceiling)) {
		w->ceiling_gbps = ceiling;
		w->narrow = end;
	}
	if (!gpu)
		return;
	w->relaxed_ordering &= end->relaxed_ordering;
	if (!w->side || path_distance(end->path.class) > path_distance(w->side->path.class))
		w->side = end;
}

struct verdict_way verdict_way(const struct gdr_cell *c, const struct gdr_side *const side[2])
{
	struct verdict_way w = {.relaxed_ordering = true};
	bool host = c && !gdr_cell_is_direct(c);

	/* An end that has the data in host memory limits the host cell as well. */
	if (c && (host || c->from_gpu))
		add_end(&w, side[c->reverse], c->from_gpu, false);
	if (c && (host || c->into_gpu))
		add_end(&w, side[!c->reverse], c->into_gpu, true);
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

#define CAUSE(to, code_, ...)                                               \
	finding_add(to, &(struct finding_facts){.code = code_,              \
						.level = FINDING_WARN,      \
						.strength = FINDING_MAY_BE, \
						.value = {__VA_ARGS__}})

/* Link L of path P is why: if it trained down, the finding says what it could be. */
static void add_link_cause(struct findings *to, enum finding_code code, const struct path *p,
			   const struct pci_link *l, double ceiling)
{
	struct pci_link could = {.gts = l->max_gts, .width = l->max_width};
	bool down = p->trained_down && strcmp(l->pci, p->down.pci) == 0;
	char link[64], best[48];

	pci_link_format(l, link, sizeof(link));
	pci_link_format(&could, best, sizeof(best));
	CAUSE(to, code, FINDING_NUMBER("ceiling", ceiling, "Gb/s"), FINDING_WORD("link", link),
	      FINDING_WORD(down ? "could" : "cannot", best),
	      FINDING_WORD(down ? "down" : "pci", l->pci));
}

void verdict_causes(const struct verdict_way *w, double gbps, struct findings *to)
{
	const struct path *p = &w->side->path, *narrow = w->narrow ? &w->narrow->path : NULL;
	bool at_ceiling = narrow && gbps >= w->ceiling_gbps * (AT_CEILING - ROUNDING);
	const struct pci_link *limit = at_ceiling ? slower_leg(narrow) : NULL;
	const char *class = p->virtual_machine ? "virtual machine" : path_row(p->class)->name;
	const char *words =
		p->virtual_machine ? "the PCIe distance has no meaning" : path_row(p->class)->words;

	if (limit)
		add_link_cause(to, GDR_PCIE_CEILING, narrow, limit, w->ceiling_gbps);
	if (!p->virtual_machine && p->class >= PATH_PHB && p->class <= PATH_SYS)
		CAUSE(to, GDR_DISTANCE, FINDING_WORD("class", class), FINDING_WORD("words", words),
		      FINDING_WORD(p->class == PATH_SYS ? "sys" : "near", ""));
	if (p->iommu_translates)
		CAUSE(to, GDR_IOMMU, FINDING_WORD("type", p->iommu));
	/* If that link is the limit, it was named already. */
	if (p->trained_down && !(limit && !strcmp(limit->pci, p->down.pci)))
		add_link_cause(to, GDR_TRAINED_DOWN, p, &p->down, NAN);
	if (!w->relaxed_ordering)
		CAUSE(to, GDR_RELAXED_ORDERING, {NULL});
	if (!to->count)
		CAUSE(to, GDR_UNKNOWN, FINDING_WORD("class", class), FINDING_WORD("words", words));
}
