// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the windows of `rdmark self` tell. No rate is judged by itself, for nobody knows what an
 * adapter can do with itself: a cell is compared with those of the same kind.
 */
#include <string.h>

#include "base/terminal.h"
#include "base/text.h"
#include "host/path.h"
#include "proto/fields.h"
#include "rdmark.h"
#include "self.h"
#include "stat/series.h"

#define SLOW     0.9 /* of what its like reaches is a finding */
#define LIKE_MAX 256

static bool knows_distance(const struct self_cell *c)
{
	return c->memory->gpu ? c->distance != PATH_UNKNOWN : c->distance >= 0;
}

/* Of the same model of adapter, at the same rate, equally far from the same kind of memory? */
static bool is_like(const struct self_cell *c, const struct self_cell *d)
{
	const struct gpu_info *a = c->memory->gpu, *b = d->memory->gpu;

	return c != d && knows_distance(c) && d->windows == SELF_TURNS &&
	       hca_are_alike(c->port, d->port) &&
	       hca_rate_gbps(c->port) == hca_rate_gbps(d->port) && c->distance == d->distance &&
	       !a == !b && (!a || strcmp(a->name, b->name) == 0);
}

/*
 * Compare C with the faster half of its like, so that others that are slow as well do not hide it.
 * Software has no slot: what it reaches is the CPU's.
 */
static void judge_cell(const struct self *s, struct self_cell *c)
{
	double best[LIKE_MAX], least = 0, median;
	size_t likes = 0;

	for (size_t i = 0; i < s->cells && likes < LIKE_MAX; i++)
		if (is_like(c, &s->cell[i]))
			best[likes++] = s->cell[i].median;
	if (!likes || c->windows < SELF_TURNS || hca_is_software(c->port)) {
		c->slow = false;
		return;
	}
	series_sort(best, likes);
	median = best[likes / 2];
	for (size_t i = 0; i < s->cells; i++)
		if (is_like(c, &s->cell[i]) && s->cell[i].median >= median &&
		    (!(least > 0) || s->cell[i].gbps[0] < least))
			least = s->cell[i].gbps[0];
	c->like = median;
	c->slow &= c->gbps[SELF_TURNS - 1] < least && c->median < SLOW * median;
}

/* Are all judged cells of C's port (or memory) slow, and more than one of them if MANY? */
static bool all_slow(const struct self *s, const struct self_cell *c, bool port)
{
	size_t judged = 0, slow = 0;

	for (size_t i = 0; i < s->cells; i++) {
		const struct self_cell *d = &s->cell[i];

		if (d->like > 0 && (port ? d->port == c->port : d->memory == c->memory)) {
			judged++;
			slow += d->slow;
		}
	}
	return slow == judged && (port || judged > 1);
}

/*
 * What the slow cell C tells, in words: a port with all memories, a memory from all ports, or this
 * cell. False: an earlier cell has told it.
 */
static bool describe(const struct self *s, const struct self_cell *c, char *text, size_t size)
{
	bool port = all_slow(s, c, true), memory = !port && all_slow(s, c, false);
	struct pci_sizes is = pci_read_sizes(c->port->place.pci);
	char slot[96];

	for (const struct self_cell *d = s->cell; d < c; d++)
		if (d->slow && ((port && d->port == c->port) ||
				(memory && d->memory == c->memory && !all_slow(s, d, true))))
			return false;
	text[0] = '\0';
	if (memory)
		text_add(text, size, "%s is slow from every port", c->memory->name);
	else
		text_add(text, size, "%s port %u is slow with %s%s", c->port->device, c->port->port,
			 port ? "every memory" : "the memory of ", port ? "" : c->memory->name);
	text_add(text, size, ": %.1f Gb/s, others of its kind %.1f", c->median, c->like);
	topo_format_link(&c->port->place, slot, sizeof(slot));
	if (port && slot[0])
		text_add(text, size, "; its slot: %s", slot);
	if (port && is.payload_bytes && is.request_bytes)
		text_add(text, size, ", MaxPayload %u, MaxReadReq %u", is.payload_bytes,
			 is.request_bytes);
	return true;
}

size_t self_judge(struct self *s)
{
	size_t slow = 0;

	for (size_t i = 0; i < s->cells; i++) {
		struct self_cell *c = &s->cell[i];

		series_sort(c->gbps, c->windows); /* [0] is the lowest */
		c->median = c->windows ? c->gbps[c->windows / 2] : 0;
		c->like = 0;
	}
	for (size_t i = 0; i < s->cells; i++) {
		judge_cell(s, &s->cell[i]);
		slow += s->cell[i].slow;
	}
	return slow;
}

void self_doubt(struct self *s)
{
	for (size_t i = 0; i < s->cells; i++) {
		struct self_cell *c = &s->cell[i];
		bool again = c->slow;

		for (size_t k = 0; k < s->cells; k++)
			again |= s->cell[k].slow && is_like(&s->cell[k], c);
		if (again)
			c->windows = 0;
	}
}

/* What the slot of PORT can carry of payload; 0: unknown. */
static double slot_gbps(const struct hca_port *port)
{
	return pci_link_gbps(&port->place.link, PCI_USUAL_PAYLOAD_BYTES, false);
}

static void print_row(const struct self *s, size_t from, FILE *out)
{
	const struct hca_port *port = s->cell[from].port;
	char name[96];

	snprintf(name, sizeof(name), "%s port %u", port->device, port->port);
	fprintf(out, "%-18s", name);
	if (slot_gbps(port) > 0)
		fprintf(out, " %10.1f", slot_gbps(port));
	else
		fprintf(out, " %10s", "-");
	for (size_t m = 0; m < s->memories; m++) {
		const struct self_cell *c = &s->cell[from + m];

		if (c->windows)
			fprintf(out, " %8.1f", c->median);
		else
			fprintf(out, " %8s", "-");
		if (c->slow)
			terminal_put(out, TERMINAL_YELLOW, "!");
		else
			fputc(' ', out);
	}
	fputc('\n', out);
}

/* What could not be measured or compared, and why, once for each reason. */
static void print_gaps(const struct self *s, FILE *out)
{
	size_t compared = 0, measured = 0;

	for (size_t i = 0; i < s->cells; i++) {
		const struct self_cell *c = &s->cell[i];
		bool told = c->windows == SELF_TURNS;

		compared += c->like > 0;
		measured += c->windows > 0;
		for (size_t k = 0; k < i && !told; k++)
			told = strcmp(s->cell[k].failed, c->failed) == 0;
		if (!told)
			fprintf(out, "%s port %u, %s: %u of %d windows count: %s\n",
				c->port->device, c->port->port, c->memory->name, c->windows,
				SELF_TURNS, c->failed);
	}
	if (measured && !compared)
		fputs("cannot tell whether these rates are normal: nothing here is known to be of the same kind\n",
		      out);
}

size_t self_print(const struct self *s, FILE *out)
{
	char text[256];
	size_t found = 0;

	fprintf(out, "%-18s %10s", "WRITE to itself, Gb/s", "slot");
	for (size_t m = 0; m < s->memories; m++)
		fprintf(out, " %8s ", s->memory[m].name);
	fputc('\n', out);
	for (size_t i = 0; i < s->cells; i += s->memories)
		print_row(s, i, out);
	for (size_t i = 0; i < s->cells; i++)
		if (s->cell[i].slow && describe(s, &s->cell[i], text, sizeof(text))) {
			fprintf(out, "(!) %s\n", text);
			found++;
		}
	print_gaps(s, out);
	fputs("Cables, switches and the other host were not used: measure these with a second host.\n",
	      out);
	return found;
}

static json_t *cell_json(const struct self_cell *c)
{
	json_t *windows = json_array();
	char slot[96];

	for (unsigned i = 0; i < c->windows; i++)
		json_array_append_new(windows, json_real(c->gbps[i]));
	topo_format_link(&c->port->place, slot, sizeof(slot));
	return json_pack("{s:s, s:i, s:f, s:s, s:o, s:s, s:i, s:o, s:o, s:o, s:b, s:s}", "device",
			 c->port->device, "port", c->port->port, "rate_gbps",
			 hca_rate_gbps(c->port), "pcie_link", slot, "slot_gbps",
			 json_known_or_null(slot_gbps(c->port)), "memory", c->memory->name,
			 "distance", c->distance, "windows_gbps", windows, "gbps",
			 json_known_or_null(c->median), "like_gbps", json_known_or_null(c->like),
			 "slow", c->slow, "failed", c->failed);
}

json_t *self_json(const struct self *s)
{
	json_t *cells = json_array(), *findings = json_array();
	char text[256];

	for (size_t i = 0; i < s->cells; i++) {
		json_array_append_new(cells, cell_json(&s->cell[i]));
		if (s->cell[i].slow && describe(s, &s->cell[i], text, sizeof(text)))
			json_array_append_new(findings, json_string(text));
	}
	return json_pack("{s:s, s:o, s:o}", "generator", "rdmark " RDMARK_VERSION, "cells", cells,
			 "findings", findings);
}
