// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rates of a PCIe link: generation, line coding and packet headers. */
#include <math.h>
#include <stdio.h>

#include "host/pci.h"

/*
 * Per packet: header 16 (writes, 64-bit address) or 12 (completions), LCRC 4, framing and sequence
 * number 4. From gen 6 on, the last two are part of the flit and of its coding.
 */
#define WRITE_HEADER_BYTES      16
#define COMPLETION_HEADER_BYTES 12
#define FRAME_BYTES             8

#define LEAST_FLIT_GTS 64.0

/* Line coding, by generation. */
static const struct {
	double gts;
	double coding;
} generations[] = {
	{2.5, 8.0 / 10},    {5, 8.0 / 10},     {8, 128.0 / 130},
	{16, 128.0 / 130},  {32, 128.0 / 130}, {LEAST_FLIT_GTS, 242.0 / 256},
	{128, 242.0 / 256},
};

#define GENERATIONS (sizeof(generations) / sizeof(generations[0]))

/* The PCIe generation, 1 to 7, with speed GTS; 0 if there is none. */
static unsigned pcie_generation(double gts)
{
	for (unsigned i = 0; i < GENERATIONS; i++)
		if (fabs(gts - generations[i].gts) < 0.05)
			return i + 1;
	return 0;
}

/* The rate in Gb/s after line coding; 0 if unknown. */
static double raw_gbps(double gts, unsigned width)
{
	double coding = 1;

	if (!(gts > 0) || !width)
		return 0;
	for (unsigned i = 0; i < GENERATIONS; i++)
		if (gts > generations[i].gts - 0.05)
			coding = generations[i].coding;
	return gts * coding * width;
}

double pci_link_gbps(const struct pci_link *l, unsigned payload_bytes, bool read)
{
	double header = read ? COMPLETION_HEADER_BYTES : WRITE_HEADER_BYTES;

	if (!payload_bytes)
		return 0;
	if (l->gts < LEAST_FLIT_GTS)
		header += FRAME_BYTES;
	return raw_gbps(l->gts, l->width) * payload_bytes / (payload_bytes + header);
}

void pci_link_slower(struct pci_link *found, const struct pci_link *l)
{
	double speed = pci_link_gbps(l, PCI_USUAL_PAYLOAD_BYTES, false);

	if (speed > 0 &&
	    (!found->pci[0] || speed < pci_link_gbps(found, PCI_USUAL_PAYLOAD_BYTES, false)))
		*found = *l;
}

void pci_link_limit(struct pci_link *l, const struct pci_link *end)
{
	l->max_gts = fmin(l->max_gts, end->max_gts);
	if (end->max_width < l->max_width)
		l->max_width = end->max_width;
}

double pci_link_share(const struct pci_link *l)
{
	double now = raw_gbps(l->gts, l->width), could = raw_gbps(l->max_gts, l->max_width);

	return now > 0 && could > now ? now / could : 1;
}

void pci_link_of_speed(struct pci_link *l, double gbytes_per_s)
{
	static const unsigned widths[] = {16, 8, 4, 2, 1, 32, 12};
	/* Fine enough to tell gen2 x16 from gen3 x8, which are 1.5 % apart. */
	const double tolerance = 0.005;

	l->gts = 0;
	l->width = 0;
	if (!(gbytes_per_s > 0))
		return;
	for (size_t w = 0; w < sizeof(widths) / sizeof(widths[0]); w++) {
		for (size_t g = 0; g < GENERATIONS; g++) {
			double speed = raw_gbps(generations[g].gts, widths[w]) / 8;

			if (fabs(speed - gbytes_per_s) > tolerance * speed)
				continue;
			l->gts = generations[g].gts;
			l->width = widths[w];
			return;
		}
	}
}

const char *pci_link_format(const struct pci_link *l, char *buf, size_t size)
{
	unsigned gen = pcie_generation(l->gts);
	char rate[32];

	if (size)
		buf[0] = '\0';
	if (!(l->gts > 0) || !l->width)
		return buf;
	if (gen)
		snprintf(rate, sizeof(rate), "gen%u", gen);
	else
		snprintf(rate, sizeof(rate), "%.1f GT/s", l->gts);
	snprintf(buf, size, "%s x%u%s%s", rate, l->width, l->pci[0] ? " at " : "", l->pci);
	return buf;
}
