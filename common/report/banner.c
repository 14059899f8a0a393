// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The banner: a line for each end, and one for what both have in common. Unusual facts have lines
 * of their own; with --verbose all facts have.
 */
#include <inttypes.h>

#include "base/text.h"
#include "base/units.h"
#include "cli/sweep.h"
#include "host/path.h"
#include "plan/test.h"
#include "report/report.h"
#include "verbs/gid.h"
#include "verbs/gpu_route.h"
#include "verbs/qp.h"
#include "verbs/transport.h"

static bool is_iwarp(const struct end *e)
{
	return e->transport == FABRIC_IWARP;
}

/* "client hosta: mlx5_0 port 1, 100 Gb/s (on eth0, which leads to the peer), GPU 0" */
static void headline(const struct report *r, const char *who, const struct end *e)
{
	/*
	 * On InfiniBand the route to the peer usually uses another network, and where no other
	 * port could have been chosen the route does not matter: omit it.
	 */
	bool brief =
		!r->about.options->output.verbose && (e->transport == FABRIC_INFINIBAND ||
						      strncmp(e->device_chosen, "the only", 8) == 0);
	char rate[32];

	snprintf(rate, sizeof(rate), e->rate_gbps > 0 ? "%g Gb/s" : "rate unknown",
		 e->rate_gbps);
	report_note(r, "%s %s: %s port %" PRId64 ", %s (%.*s)%s%.*s%s%s", who, e->host, e->device,
		    e->port, rate, (int)strcspn(e->device_chosen, brief ? ";" : ""), e->device_chosen,
		    e->gpu[0] ? ", " : "", (int)strcspn(e->gpu, "("), e->gpu,
		    e->gpu_path < GPU_ROUTES ? "by " : "", gpu_route_name(e->gpu_path));
}

static void address_line(const struct report *r, const char *who, const struct end *e)
{
	if (is_iwarp(e))
		report_note(r, "%s address %s (for rdma_cm, which iWARP needs to connect)", who,
			    e->address);
	else if (e->gid_index >= 0)
		report_note(r, "%s GID %" PRId64 ": %s (%s, %s)", who, e->gid_index,
			    e->gid, gid_kind_name(e->gid_type), e->gid_chosen);
	else
		report_note(r, "%s LID 0x%" PRIx64, who, (uint64_t)e->lid);
}

/* "client packets: DSCP 26, SL 3": what switches and the pause frames go by. */
static void packets_line(const struct report *r, const char *who, const struct end *e)
{
	const struct experiment *x = &r->about.options->experiment;
	char line[96] = "";

	if (is_iwarp(e) || e->gid_type < GID_V1)
		text_add(line, sizeof(line), " DSCP %" PRIu64 ",", x->tos >> 2);
	if (!is_iwarp(e))
		text_add(line, sizeof(line), " SL %" PRIu64 ",", x->sl);
	if (e->transport != FABRIC_EFA) /* nobody sets these there */
		report_note(r, "%s packets:%.*s", who, (int)strlen(line) - 1, line);
}

/* Where E's thread and buffers are: if they are known to be on another NUMA node than its NIC, or
 * ALL. */
static void place_line(const struct report *r, const char *who, const struct end *e, bool all)
{
	bool known = e->numa_node >= 0;
	char pages[80] = "";

	if (!all && !(known && e->thread_node != e->numa_node) &&
	    e->memory_pages_on_node >= e->memory_pages)
		return;
	if (e->memory_pages && e->memory_pages_on_node == e->memory_pages)
		snprintf(pages, sizeof(pages), "; all buffers local");
	else if (e->memory_pages)
		snprintf(pages, sizeof(pages),
			 "; %" PRId64 " of %" PRId64 " pages of its buffers are on another node",
			 e->memory_pages - e->memory_pages_on_node, e->memory_pages);
	if (e->thread_node >= 0)
		report_note(r, "%s NUMA node %" PRId64 ", CPUs %s (%s%s)", who, e->thread_node,
			    e->cpus, e->pinned, pages);
	else
		report_note(r, "%s CPUs %s (%s)", who, e->cpus, e->pinned);
}

/* Print E's headline, and the facts that it lacks: the unusual ones, or all with --verbose. */
static void end_lines(const struct report *r, const char *who, const struct end *e)
{
	bool all = r->about.options->output.verbose;
	bool slow_clock = strcmp(e->clock, "clock_gettime") == 0;

	headline(r, who, e);
	if (all || e->pcie_trained_down)
		report_note(r, "%s link: %s%s%s%s", who, is_iwarp(e) ? "iWARP over " : "",
			    fabric_row(e->transport)->link, e->pcie_link[0] ? ", " : "", e->pcie_link);
	if (all) {
		address_line(r, who, e);
		packets_line(r, who, e);
	}
	if (e->gpu[0] && (all || e->gpu_path == GPU_ROUTE_PEERMEM))
		report_note(r, "%s %s, distance to the NIC: %s%s%s", who, e->gpu,
			    path_row(e->gpu_distance)->name,
			    e->gpu_path < GPU_ROUTES ? "; memory by " : "", e->gpu_chosen);
	if (e->memory_made_of[0])
		report_note(r, "%s memory: %s", who, e->memory_made_of);
	place_line(r, who, e, all);
	if (all || slow_clock)
		report_note(r, "%s clock %s%s", who, e->clock,
			    slow_clock ? ": slower to read than the CPU's counter" : "");
}

/* "flow labels 1, 2, 3 in turn", if there are several: those that the QPs have. */
static void labels_line(const struct report *r, const struct report_ends *ends)
{
	const struct flow_labels *l = &r->about.options->experiment.labels;
	unsigned qps = ends->my_qps[0]->count * ends->threads * ends->rails;
	char line[1024] = "";

	for (unsigned i = 0; i < l->count && i < qps; i++)
		text_add(line, sizeof(line), "%s%" PRIu32, i ? ", " : "", l->value[i]);
	if (l->count > qps)
		report_note(r, "flow label%s %s: the first %u of %" PRIu64 ", one per QP (-q)",
			    qps > 1 ? "s" : "", line, qps, l->count);
	else if (l->count)
		report_note(r, "flow labels %s, for the QPs in turn", line);
}

/* "1 QP, RC over RoCE v2 IPv4, MTU 4096, messages of 64 KiB" */
static void common_line(const struct report *r, const struct report_ends *ends)
{
	const struct options *o = r->about.options;
	const struct end *e = ends->mine[0];
	unsigned threads = ends->threads * ends->rails, qps = ends->my_qps[0]->count * threads;
	bool receives = r->about.server != (o->experiment.reversed != 0);
	const struct qp_address *to = receives ? ends->my_qps[0] : ends->their_qps[0];
	char line[256] = "", group[64];

	text_add(line, sizeof(line), "%u QP%s", qps, qps > 1 ? "s" : "");
	if (threads > 1)
		text_add(line, sizeof(line), " on %u threads", threads);
	text_add(line, sizeof(line), "%s, %s%s%s over %s",
		 strcmp(ends->effective->connected_by, "rdma_cm") == 0 ? ", connected by rdma_cm"
								       : "",
		 experiment_transport(&o->experiment)->name,
		 o->experiment.mcg ? " multicast to " : "",
		 o->experiment.mcg ? gid_format(&to->gid, group, sizeof(group)) : "",
		 e->transport == FABRIC_ROCE && e->gid_type < GID_KINDS
			 ? gid_kind_name(e->gid_type)
			 : fabric_row(e->transport)->name);
	/* TCP segments messages, so there is no MTU; EFA's is larger than any that has a name. */
	if (!is_iwarp(e) && e->transport != FABRIC_EFA)
		text_add(line, sizeof(line), ", MTU %u%s", ends->effective->mtu_bytes,
			 e->active_mtu_bytes != ends->theirs[0]->active_mtu_bytes
				 ? " (the smaller of the two)"
				 : "");
	if (!r->about.test->calls)
		text_add(line, sizeof(line), ", messages of %s", units_size(ends->first_bytes).text);
	if (ends->last_bytes > ends->first_bytes)
		text_add(line, sizeof(line), " to %s", units_size(ends->last_bytes).text);
	if (o->sweep.axes && !r->about.server) /* only the client knows of how many */
		text_add(line, sizeof(line), ", the first of %u experiments",
			 sweep_points(&o->sweep));
	else if (o->sweep.axes)
		text_add(line, sizeof(line), ", the first of several experiments");
	report_note(r, "%s", line);
}

void banner_print(struct report *r, const struct report_ends *ends)
{
	const struct report_effective *e = ends->effective;

	for (unsigned i = 0; i < ends->rails; i++) {
		end_lines(r, result_end_name(r->about.server), ends->mine[i]);
		if (ends->theirs[0])
			end_lines(r, result_end_name(!r->about.server), ends->theirs[i]);
	}
	if (!ends->theirs[0])
		return;
	common_line(r, ends);
	labels_line(r, ends);
	if (!r->about.options->output.verbose)
		return;
	if (e->outs)
		report_note(r, "%u outstanding requests per QP", e->outs);
	else if (e->inline_bytes)
		report_note(r, "inline data up to %u bytes", e->inline_bytes);
	else
		report_note(r, "no inline data");
}
