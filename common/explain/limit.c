// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "explain/limit.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "explain/during.h"
#include "explain/traffic.h"

#define REACHED        0.95 /* of the link: what healthy adapters reach (rdmark(7)) */
#define PCIE_SHARE     0.96 /* of a PCIe link's payload rate that adapters reach (gdr_bw(1)) */
#define ALIKE          1.05 /* links of one kind, which read and write at rates of their own */
#define KEPT           0.95 /* of a schedule */
#define NOMINAL        1.02 /* a rate above the link's shows that the link's is only a name */
#define NEVER_FULL     0.1
#define MOSTLY_FULL    0.5
#define NOTHING_QUEUES 1.3 /* completion times in the run, in those of a lone message */
#define BUSY           0.9
#define TIME_COUNTS    0.05
#define LACK_COUNTS_S  1e-3 /* the kernel's own work takes less at a time */
#define QUEUES_FILLED  10  /* a run of fewer send queues says nothing of how full they are */
#define QUEUE_IN_FLIGHT 0.75 /* of the send queue, at least: the rest waits for its completion */
#define FAST_LINK_GBPS 199 /* from here on one QP may be what limits */
#define ONE_QP_REACHES 0.7

static const char *const names[LIMITS] = {
	[LIMIT_UNKNOWN] = "unknown",   [LIMIT_LINK] = "link",     [LIMIT_PCIE] = "pcie",
	[LIMIT_SCHEDULE] = "schedule", [LIMIT_CORE] = "core",     [LIMIT_RECEIVER] = "receiver",
	[LIMIT_WINDOW] = "window",     [LIMIT_PAUSE] = "pause",   [LIMIT_LOSS] = "loss",
	[LIMIT_NIC_QP] = "nic_qp",     [LIMIT_MEMORY] = "memory",
};

const char *limit_name(enum limit_by by)
{
	return names[by];
}

static double in_flight(const struct run_facts *r)
{
	return (double)r->tx_depth * r->qps;
}

/* The slower of two rates, of which either may be unknown; *END becomes whose, NULL if alike. */
static double slower(const struct run_facts *r, double sender, double receiver, const char **end)
{
	bool is_sender = sender < receiver || isnan(receiver);
	double low = is_sender ? sender : receiver, high = is_sender ? receiver : sender;

	*end = high < low * ALIKE ? NULL : is_sender ? r->sender->name : r->receiver->name;
	return low;
}

struct ceilings run_ceilings(const struct run_facts *r)
{
	struct ceilings c;

	c.link_gbps = slower(r, r->sender->rate_gbps, r->receiver->rate_gbps, &c.link_end) *
		      run_data_share(r);
	c.pcie_gbps =
		slower(r, r->sender->pcie_gbps, r->receiver->pcie_gbps, &c.pcie_end) * PCIE_SHARE;
	if (r->gbps > NOMINAL * c.link_gbps)
		c.link_gbps = c.pcie_gbps = NAN;
	if (r->gbps * PCIE_SHARE > NOMINAL * c.pcie_gbps)
		c.pcie_gbps = NAN;
	c.window_gbps = in_flight(r) * (double)r->message_bytes * 8 / r->sender->alone_ns;
	c.core_gbps = r->sender->full_share < 1 ? r->gbps / (1 - r->sender->full_share) : NAN;
	return c;
}

static void set_limit(struct limit *l, enum limit_by by, bool certain, double share)
{
	l->by = by;
	l->certain = certain;
	l->share = share;
}

static void __attribute__((format(printf, 2, 3))) write_limit(struct limit *l, const char *fmt, ...)
{
	int n = snprintf(l->text, sizeof(l->text), "%s",
			 l->certain ? "limited by " : "may be limited by ");
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(l->text + n, sizeof(l->text) - (size_t)n, fmt, ap);
	va_end(ap);
}

/* What a rule looks at. */
struct judged {
	const struct run_facts *r;
	const struct findings *events;
	double other_gbps;
	struct limit *l;
};

/*
 * Healthy, whatever else was found. Refuted by a port rate that is only a name, see NOMINAL. Other
 * traffic shares the link only if it is the link of the port that carried it.
 */
static bool is_link(const struct judged *j)
{
	const char *end = j->l->ceilings.link_end;
	double link = j->l->ceilings.link_gbps, share = j->r->gbps / link;
	double other = end ? 0 : j->other_gbps * run_data_share(j->r);
	double all = (j->r->gbps + other) / link;

	if (!(all >= REACHED))
		return false;
	set_limit(j->l, LIMIT_LINK, true, fmin(all, 1));
	if (share >= REACHED)
		write_limit(j->l, "the link: %.0f %% of %.1f Gb/s%s%s%s", 100 * share, link,
			    end ? " (the " : "", end ? end : "", end ? "'s port)" : "");
	else
		write_limit(j->l,
			    "the link, which carried %.1f Gb/s of other traffic: %.0f %% of %.1f "
			    "Gb/s",
			    other, 100 * fmin(all, 1), link);
	return true;
}

/* Refuted by a slot that carries more than the adapter was measured to reach. */
static bool is_pcie(const struct judged *j)
{
	const char *end = j->l->ceilings.pcie_end;
	const struct run_end *slow = end == j->r->receiver->name ? j->r->receiver : j->r->sender;
	double share = j->r->gbps / j->l->ceilings.pcie_gbps;

	if (!(share >= REACHED))
		return false;
	set_limit(j->l, LIMIT_PCIE, true, fmin(share, 1));
	write_limit(j->l, "the PCIe link%s%s (%s): %.0f %% of %.1f Gb/s",
		    end ? " of the " : "s of both ends", end ? end : "", slow->pcie_link,
		    100 * share, j->l->ceilings.pcie_gbps);
	snprintf(j->l->next, sizeof(j->l->next), "%s",
		 slow->pcie_trained_down
			 ? "use a slot that supports what the adapter does; if this one should, "
			   "reseat the adapter and check the riser and the BIOS (--check)"
			 : "use a slot with more lanes or a newer generation");
	return true;
}

/* Refuted by a rate below what was asked for. */
static bool is_schedule(const struct judged *j)
{
	double share = j->r->gbps / j->r->limit_gbps;

	if (!(j->r->limit_gbps > 0) || !(share >= KEPT))
		return false;
	set_limit(j->l, LIMIT_SCHEDULE, true, fmin(share, 1));
	write_limit(j->l, "--rate_limit: %.0f %% of %.1f Gb/s", 100 * share, j->r->limit_gbps);
	return true;
}

/* A run of few send queues ends before they can be full. */
static bool is_long(const struct run_facts *r)
{
	return (double)r->messages >= QUEUES_FILLED * in_flight(r);
}

/* The share of the time in which the sender had to wait, for room or for its schedule. */
static double waiting(const struct run_facts *r)
{
	double schedule = r->sender->schedule_share;

	return r->sender->full_share + (schedule > 0 ? schedule : 0);
}

/*
 * The sender hardly waits. Refuted by more threads that are no faster: an adapter that is about as
 * fast as the loop keeps its queue from filling, too, so it only may be.
 */
static bool is_core(const struct judged *j)
{
	if (!(waiting(j->r) < NEVER_FULL) || !is_long(j->r) || j->r->lost)
		return false;
	set_limit(j->l, LIMIT_CORE, false, NAN);
	write_limit(j->l, "the %s's CPU: its send queue was full for only %.0f %% of the run",
		    j->r->sender->name, 100 * j->r->sender->full_share);
	snprintf(j->l->next, sizeof(j->l->next),
		 "use --threads, post lists (-l 32), or larger messages");
	return true;
}

/* More of the time is left than the rate allows for: the cause did not stop this run. */
static bool is_refuted(const struct judged *j, double share)
{
	return j->r->gbps > ALIKE * (1 - share) * j->l->ceilings.link_gbps;
}

/*
 * One cause took a share of the time. Refuted by other traffic on the port, which may have been
 * the one that suffered.
 */
static bool is_event(const struct judged *j)
{
	static const char *const words[LIMITS] = {[LIMIT_LOSS] = "packet loss",
						  [LIMIT_RECEIVER] = "the receiver",
						  [LIMIT_PAUSE] = "pause frames",
						  [LIMIT_MEMORY] = "the receiving host"};
	const struct finding *f;
	enum limit_by by;

	for (size_t i = 0; i < j->events->count; i++) {
		f = &j->events->list[i];
		by = limit_of_finding(f->code);
		if (by == LIMIT_UNKNOWN || !(f->share >= TIME_COUNTS) || is_refuted(j, f->share))
			continue;
		set_limit(j->l, by, !(j->other_gbps > 0) && finding_shows_limit(f), f->share);
		write_limit(j->l, "%s: %s", words[by], f->text);
		snprintf(j->l->next, sizeof(j->l->next), "%s", f->next);
		return true;
	}
	return false;
}

/* How much longer a message takes in the run than alone; NaN: unknown. */
static double queueing(const struct run_facts *r)
{
	return r->sender->completion_ns / r->sender->alone_ns;
}

static bool is_full(const struct run_facts *r)
{
	return r->sender->full_share >= MOSTLY_FULL;
}

/*
 * The receiver always finds messages, and the sender waits. Refuted by a receiver that waits now
 * and then. It only may be: what shows it for certain is the RNR NAKs of is_event().
 */
static bool is_receiver(const struct judged *j)
{
	const struct run_facts *r = j->r;

	if (!r->receives || !(r->receiver->busy_share >= BUSY) || !is_full(r) ||
	    !(queueing(r) > NOTHING_QUEUES))
		return false;
	set_limit(j->l, LIMIT_RECEIVER, false, NAN);
	write_limit(j->l, "the %s's CPU: it never waited for a message in %.0f %% of the run",
		    r->receiver->name, 100 * r->receiver->busy_share);
	snprintf(j->l->next, sizeof(j->l->next),
		 "use --threads, --recv_post_list, or larger messages");
	return true;
}

/* Nothing queues, and the queue is full. Refuted by completions that take longer than alone. */
static bool is_window(const struct judged *j)
{
	const struct run_facts *r = j->r;
	const struct ceilings *c = &j->l->ceilings;
	double message_bits = (double)r->message_bytes * 8, depth;

	if (!is_full(r) || !(queueing(r) <= NOTHING_QUEUES))
		return false;
	set_limit(j->l, LIMIT_WINDOW, true, fmin(r->gbps / c->window_gbps, 1));
	write_limit(j->l, "the window: %.0f messages of %s in flight, which take %.1f us each",
		    in_flight(r), units_size(r->message_bytes).text,
		    r->sender->completion_ns / 1e3);
	depth = c->link_gbps * r->sender->alone_ns / message_bits / r->qps;
	depth = ceil(depth / QUEUE_IN_FLIGHT) + 1;
	if (r->pulls)
		snprintf(j->l->next, sizeof(j->l->next),
			 "use more QPs (-q), or a larger --outs if the device has it");
	else if (depth > r->tx_depth)
		snprintf(j->l->next, sizeof(j->l->next), "use -t %.0f, or more QPs (-q)", depth);
	else
		snprintf(j->l->next, sizeof(j->l->next),
			 "use a larger -t, more QPs (-q), or larger messages");
	return true;
}

/*
 * Other tasks had the CPU of an end that spins. It only may be: a queue that is full works on
 * meanwhile. Refuted by a run with the CPU to itself that is no faster.
 */
static bool is_shared_cpu(const struct judged *j)
{
	const struct run_end *s = j->r->sender, *end = j->r->receiver;

	if (s->cpu_share <= end->cpu_share || isnan(end->cpu_share))
		end = s;
	if (!(1 - end->cpu_share >= TIME_COUNTS) ||
	    !((1 - end->cpu_share) * j->r->seconds >= LACK_COUNTS_S))
		return false;
	set_limit(j->l, end == s ? LIMIT_CORE : LIMIT_RECEIVER, false, 1 - end->cpu_share);
	write_limit(j->l,
		    "other tasks on the %s's CPU: its thread had the CPU for %.0f %% of the run",
		    end->name, 100 * end->cpu_share);
	snprintf(j->l->next, sizeof(j->l->next), "give it a CPU of its own (taskset, --numa)");
	return true;
}

/* By elimination, so it only may be. Refuted by a run with more QPs that is no faster. */
static bool is_one_qp(const struct judged *j)
{
	const struct run_facts *r = j->r;
	double link = j->l->ceilings.link_gbps;

	if (r->qps != 1 || !is_full(r) || !(queueing(r) > NOTHING_QUEUES) || j->events->count ||
	    !(link / run_data_share(r) >= FAST_LINK_GBPS) || !(r->gbps >= ONE_QP_REACHES * link))
		return false;
	set_limit(j->l, LIMIT_NIC_QP, false, r->gbps / link);
	write_limit(
		j->l,
		"what the NIC does with one QP: %.0f %% of the link's %.1f Gb/s, and no counter "
		"moved",
		100 * r->gbps / link, link);
	snprintf(j->l->next, sizeof(j->l->next), "try -q 4");
	return true;
}

/* Below a ceiling that is known, without a reason that was shown. */
static void write_unknown(const struct judged *j)
{
	double link = j->l->ceilings.link_gbps, pcie = j->l->ceilings.pcie_gbps;
	bool by_pcie = pcie < link || isnan(link);

	j->l->share = j->r->gbps / (by_pcie ? pcie : link);
	if (isnan(j->l->share))
		return;
	snprintf(j->l->text, sizeof(j->l->text),
		 "%.0f %% of the %.1f Gb/s that the %s carries; what limits it is not known",
		 100 * j->l->share, by_pcie ? pcie : link, by_pcie ? "PCIe link" : "link");
}

void explain_run(const struct run_facts *r, struct limit *l, struct findings *to)
{
	static bool (*const rules[])(const struct judged *j) = {
		is_link,     is_pcie,   is_schedule,   is_core,   is_event,
		is_receiver, is_window, is_shared_cpu, is_one_qp,
	};
	struct judged j = {.r = r, .events = to, .l = l};

	memset(l, 0, sizeof(*l));
	set_limit(l, LIMIT_UNKNOWN, false, NAN);
	l->ceilings = run_ceilings(r);
	j.other_gbps = run_other_gbps(r);
	explain_events(r, to);
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (rules[i](&j))
			return;
	write_unknown(&j);
}
