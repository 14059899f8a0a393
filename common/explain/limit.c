// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* All rules are here, since their order decides: hence more than 400 lines. */
#include "explain/limit.h"

#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "explain/during.h"
#include "finding/thresholds.h"

/* What a rule looks at, and where it puts what it finds. */
struct judged {
	const struct run_facts *r;
	struct ceilings top;
	struct traffic other;
	struct findings *events;
	struct finding *to;
};

#define LIMIT(j, maybe, ...) set_limit(j, maybe, (struct finding_facts){__VA_ARGS__})

/* The limit is this; MAYBE: or something else. */
static bool set_limit(const struct judged *j, bool maybe, struct finding_facts facts)
{
	char *text = j->to->text, words[sizeof(j->to->text)];

	facts.strength = maybe ? FINDING_MAY_BE : FINDING_IS;
	finding_make(j->to, &facts);
	text_copy(words, sizeof(words), text);
	text[0] = '\0';
	text_add(text, sizeof(words), "%slimited by %s", maybe ? "may be " : "", words);
	return true;
}

/* The share of the run's time in which the sender waited for its schedule; 0 if unknown. */
static double waits_schedule(const struct run_facts *r)
{
	return r->sender->schedule_share > 0 ? r->sender->schedule_share : 0;
}

static bool is_full(const struct run_facts *r)
{
	return r->sender->full_share >= MOSTLY_FULL;
}

/* How much longer a message takes in the run than alone; NaN: unknown. */
static double queueing(const struct run_facts *r)
{
	return r->sender->completion_ns / r->sender->alone_ns;
}

/* More than the link carries: no figure of the link, so nothing is said to limit it. */
static bool is_above_link(const struct judged *j)
{
	struct finding_facts f = {
		.code = FINDING_ABOVE_LINK,
		.level = FINDING_WARN,
		.end = j->top.link_end,
		.value = {FINDING_NUMBER("rate", j->r->gbps, "Gb/s"),
			  FINDING_NUMBER("link", j->top.link_gbps, "Gb/s"),
			  FINDING_WORD("rate_is_above", "")},
	};

	if (!(j->r->gbps > ABOVE_LINK * j->top.link_gbps))
		return false;
	finding_add(j->events, &f);
	f.code = LIMIT_UNKNOWN;
	f.strength = FINDING_CANNOT_TELL;
	finding_make(j->to, &f);
	return true;
}

/*
 * The sender waited until messages were due. Refuted by a sender that never did: then it could not
 * have sent more, either. It only may be where the waiting is not known, and where the rate is a
 * little lower: until a slower place has filled the send queue, the sender waits for its schedule
 * there, too.
 */
static bool is_schedule(const struct judged *j)
{
	const struct run_facts *r = j->r;
	double share = r->gbps / r->limit_gbps, waited = r->sender->schedule_share;

	if (!(r->limit_gbps > 0) || !(share >= SCHEDULE_KEPT) || waited < WAITS_SCHEDULE)
		return false;
	return LIMIT(j, isnan(waited) || share < SCHEDULE_MET, .code = LIMIT_SCHEDULE,
		     .share = fmin(share, 1),
		     .value = {FINDING_NUMBER("reached", share, "share"),
			       FINDING_NUMBER("limit", r->limit_gbps, "Gb/s")});
}

/*
 * Healthy, whatever else was found. Other traffic shares the link only if it is the link of the
 * port that carried it, and it only may be other traffic. What a port sends to itself need not
 * cross its link.
 */
static bool is_link(const struct judged *j)
{
	const char *end = j->top.link_end;
	double link = j->top.link_gbps, share = j->r->gbps / link;
	double other = end ? 0 : j->other.gbps * run_data_share(j->r);
	double all = (j->r->gbps + other) / link;
	bool alone = share >= REACHED_MAYBE;

	if (!(all >= REACHED_MAYBE))
		return false;
	return LIMIT(j, !(share >= REACHED_SURELY) || j->r->one_port, .code = LIMIT_LINK,
		     .end = end, .share = fmin(all, 1),
		     .value = {FINDING_NUMBER("reached", fmin(alone ? share : all, 1), "share"),
			       FINDING_NUMBER("link", link, "Gb/s"),
			       FINDING_NUMBER("other", alone ? NAN : other, "Gb/s")});
}

/* Refuted by a slot that carries more than the adapter was measured to reach. */
static bool is_pcie(const struct judged *j)
{
	const char *end = j->top.pcie_end;
	const struct run_end *slow = end == j->r->receiver->name ? j->r->receiver : j->r->sender;
	double share = j->r->gbps / j->top.pcie_gbps;

	if (!(share >= REACHED_MAYBE))
		return false;
	return LIMIT(j, !(share >= REACHED_SURELY), .code = LIMIT_PCIE, .end = end,
		     .share = fmin(share, 1),
		     .value = {FINDING_NUMBER("reached", share, "share"),
			       FINDING_NUMBER("pcie", j->top.pcie_gbps, "Gb/s"),
			       FINDING_WORD("slot", slow->pcie_link),
			       FINDING_WORD(end ? "one" : "both", "both ends"),
			       FINDING_WORD(slow->pcie_trained_down ? "trained_down" : "trained",
					    "; if this one should support what the adapter does, "
					    "reseat the adapter and check the riser and the BIOS "
					    "(--check)")});
}

/* What a larger window takes to fill the link; MAYBE: whether it does is to be tried. */
static const char *window_advice(const struct judged *j, bool maybe, char *buf, size_t size)
{
	const struct run_facts *r = j->r;
	double depth =
		j->top.link_gbps * r->sender->alone_ns / ((double)r->message_bytes * 8) / r->qps;

	depth = ceil(depth / QUEUE_IN_FLIGHT) + 1;
	if (maybe)
		return r->pulls ? "add --prove, which tries a larger --outs and more QPs"
				: "add --prove, which tries a larger one";
	if (r->pulls)
		return "use more QPs (-q), or a larger --outs if the device has it";
	if (!(depth > r->tx_depth))
		return "use a larger -t, more QPs (-q), or larger messages";
	snprintf(buf, size, "use -t %.0f, or more QPs (-q)", depth);
	return buf;
}

/*
 * Nothing queues, and the queue is full: no event at a port cost this run anything. With few
 * messages in flight, most of a lone one's time may be its own transfer at a slow place that no
 * counter shows, so it only may be; as where both directions disturb the lone message's time. One
 * message on a QP never queues, however slow that place is.
 * Refuted by a lone message that took longer than those of the run: it was not alone.
 */
static bool is_window(const struct judged *j)
{
	const struct run_facts *r = j->r;
	double transfer = (double)r->message_bytes * 8 / j->top.link_gbps;
	double little = r->tx_depth == 1 ? LEAST_TRANSFER : LITTLE_TRANSFER;
	bool few = (r->tx_depth == 1 || run_in_flight(r) <= FEW_IN_FLIGHT) &&
		   !(transfer <= little * r->sender->alone_ns);
	double share = fmin(r->gbps / j->top.window_gbps, 1);
	bool maybe = few || r->both || queueing(r) < QUEUES_LEAST || queueing(r) > QUEUES_NOTHING;
	char advice[80];

	if (!is_full(r) || !(queueing(r) <= QUEUES_LITTLE) || queueing(r) * QUEUES_LITTLE < 1)
		return false;
	return LIMIT(j, maybe, .code = LIMIT_WINDOW, .end = r->sender->name, .share = share,
		     .value = {FINDING_NUMBER("in_flight", run_in_flight(r), ""),
			       FINDING_WORD("s", run_in_flight(r) == 1 ? "" : "s"),
			       FINDING_NUMBER("size", (double)r->message_bytes, "B"),
			       FINDING_NUMBER("completion", r->sender->completion_ns / 1e3, "us"),
			       FINDING_WORD("advice",
					    window_advice(j, maybe, advice, sizeof(advice)))});
}

/*
 * Other tasks had the CPU of E, which spins, or its CPU limit kept it from it. Refuted by a run with
 * the CPU to itself.
 */
static bool set_shared_cpu(const struct judged *j, const struct run_end *e)
{
	bool stopped = e->stopped > 0;

	return LIMIT(j, true, .code = e == j->r->sender ? LIMIT_CORE : LIMIT_RECEIVER,
		     .end = e->name, .share = 1 - e->cpu_share,
		     .value = {FINDING_WORD(stopped ? "limited" : "shared", e->name),
			       FINDING_NUMBER("cpu", e->cpu_share, "share"),
			       FINDING_NUMBER("stops", e->stopped, ""),
			       FINDING_NUMBER("stopped", e->stopped_s, "s"),
			       FINDING_WORD("advice",
					    stopped ? "raise the CPU limit of its pod, container "
						      "or service (cpu.max)"
						    : "give it a CPU of its own (taskset, --numa)")});
}

/*
 * Messages that were sent again disturbed the row, and nothing else explains it. Of one or two
 * nothing can be told; nor of software's few, or few in flight (rxe's timer), or want of CPU.
 */
static bool is_resent(const struct judged *j)
{
	const struct run_facts *r = j->r;
	double lack = run_lacks_cpu(r, r->sender);
	struct finding loss;

	if (!r->reliable || !(r->resent_share > (r->software ? TIME_COUNTS : AGAIN_COUNTS)) ||
	    r->resent_share * (double)r->messages < FEW_RESENT ||
	    (r->software && (run_in_flight(r) <= FEW_IN_FLIGHT || lack > r->resent_share)))
		return false;
	finding_make(&loss, &(struct finding_facts){.code = FINDING_PACKET_LOSS,
						    .value = {run_carrier(r)}});
	return LIMIT(j, true, .code = LIMIT_LOSS, .end = r->sender->name,
		     .value = {FINDING_NUMBER("resent", r->resent_share, "share"),
			       FINDING_WORD("advice", loss.next)});
}

/*
 * The sender hardly waits for anything: it had too little of its CPU, or needs more than one. A
 * thread that lost its CPU while its queue was full lost nothing. Refuted by more threads that are
 * no faster: an adapter that is about as fast as the loop keeps its queue from filling, too, so it
 * only may be. An adapter in software sends again in the calls of the sender, whose queue then does
 * not fill, either. A run of few send queues ends before they can be full.
 */
static bool is_core(const struct judged *j)
{
	const struct run_facts *r = j->r;
	double full = r->sender->full_share;
	char how[64] = "never full";

	if (r->lost || !(full + waits_schedule(r) < MOSTLY_FULL))
		return false;
	if (run_lost_with_cpu(r) > full)
		return set_shared_cpu(j, r->sender);
	if (!(full + waits_schedule(r) < NEVER_FULL) ||
	    (double)r->messages < QUEUES_FILLED * run_in_flight(r))
		return false;
	if (r->resent_share >= TIME_COUNTS)
		return is_resent(j);
	if (full >= 0.005)
		snprintf(how, sizeof(how), "full for only %.0f %% of the run", 100 * full);
	return LIMIT(j, true, .code = LIMIT_CORE, .end = r->sender->name,
		     .value = {FINDING_WORD("sender", r->sender->name),
			       FINDING_NUMBER("full", full, "share"), FINDING_WORD("how", how),
			       FINDING_WORD("advice", "add --prove, which tries --threads, lists "
						      "(-l 32) and larger messages")});
}

/*
 * Was F this run's for certain? Refuted by other traffic on the port, which may have been the one
 * that suffered: more than what was sent once, and with losses again. By a share that explains only
 * a part of what the run lacks, or a rest of the time in which the link was not full, either. And
 * by other known explanations: an end that lacked its CPU, or was busy throughout, or the other
 * direction.
 */
static bool is_mine(const struct judged *j, const struct finding_facts *f)
{
	double again = f->code == FINDING_PACKET_LOSS ? 1 / (1 - f->share) : 1;

	return f->strength == FINDING_IS && f->share >= EXPLAINS * ceilings_lack(j->r, &j->top) &&
	       1 - ceilings_lack(j->r, &j->top) >= REST_USED * (1 - f->share) &&
	       j->other.carried <= (1 + OTHER_COUNTS) * again && !j->r->both &&
	       !(run_lacks_cpu(j->r, j->r->sender) > 0) && !(run_lacks_cpu(j->r, j->r->receiver) > 0) &&
	       !(j->r->receiver->busy_share >= RECEIVER_BUSY);
}

/*
 * The cause F took a share of the time that this run lacks. Refuted by a rate that the rest of the
 * time cannot reach, on the link or, after late ACKs, with so few messages in flight; and by an
 * event that happened but once or twice. ACKs come late where other
 * tasks have the CPU of the end that answers; and in software, that of the one that asks.
 */
static bool set_event(const struct judged *j, const struct finding *f)
{
	enum finding_code by = limit_of_finding(f->is.code);
	double share = f->is.share, lacks = ceilings_lack(j->r, &j->top);
	bool late = f->is.code == FINDING_ACK_TIMEOUTS;

	if (by == LIMIT_UNKNOWN || !(share >= TIME_COUNTS) || share > lacks + TIME_COUNTS ||
	    (late && ceilings_fill_window(j->r, &j->top, share)) ||
	    (by == LIMIT_LOSS && f->is.value[0].number < FEW_RESENT))
		return false;
	if (late && run_lacks_cpu(j->r, j->r->receiver) > 0)
		return set_shared_cpu(j, j->r->receiver);
	if (late && j->r->software && run_lacks_cpu(j->r, j->r->sender) > share)
		return false;
	return LIMIT(j, !is_mine(j, &f->is), .code = by, .end = f->is.end, .share = share,
		     .value = {FINDING_WORD("event", f->text), FINDING_WORD("advice", f->next)});
}

static bool is_event(const struct judged *j)
{
	for (size_t i = 0; i < j->events->count; i++)
		if (set_event(j, &j->events->list[i]))
			return true;
	return false;
}

/*
 * The receiver was not ready, which its port or the sender's says. Meanwhile the sender posts
 * again, and sends again what came too early: so this is before its CPU, and before loss.
 */
static bool is_not_ready(const struct judged *j)
{
	const struct finding *f = findings_find(j->events, FINDING_RECEIVER_NOT_READY);

	return f && set_event(j, f);
}

/*
 * The receiver always finds messages, and the sender waits. Refuted by a receiver that waits now
 * and then. It only may be: what shows it for certain is the RNR NAKs of is_event(). One that had
 * its CPU for a part of the time finds what came in the rest.
 */
static bool is_receiver(const struct judged *j)
{
	const struct run_facts *r = j->r;

	if (!r->receives || !(r->receiver->busy_share >= RECEIVER_BUSY) || !is_full(r) ||
	    !(queueing(r) > QUEUES_LITTLE))
		return false;
	if (run_lacks_cpu(r, r->receiver) > 0 &&
	    r->receiver->busy_share * r->receiver->cpu_share < RECEIVER_BUSY)
		return set_shared_cpu(j, r->receiver);
	return LIMIT(j, true, .code = LIMIT_RECEIVER, .end = r->receiver->name,
		     .value = {FINDING_WORD("busy_end", r->receiver->name),
			       FINDING_NUMBER("busy", r->receiver->busy_share, "share"),
			       FINDING_WORD("advice", "add --prove, which tries --threads and "
						      "larger queues and messages")});
}

/*
 * Other tasks had the CPU of an end: of the sender, if its queue was not full just then; of the
 * other, which a steady rate refutes, and receives that were always posted.
 */
static bool is_shared_cpu(const struct judged *j)
{
	const struct run_facts *r = j->r;
	double rest = 1 - r->sender->full_share, lost = run_lost_with_cpu(r);
	bool received = r->reliable && r->sender->event[PORT_RNR_RECEIVED] == 0;

	if (rest >= TIME_COUNTS && lost >= EXPLAINS * rest && lost <= rest + TIME_COUNTS)
		return set_shared_cpu(j, r->sender);
	return !received && !run_is_steady(r) && run_lacks_cpu(r, r->receiver) > 0 &&
	       set_shared_cpu(j, r->receiver);
}

/* By elimination, so it only may be. Refuted by a run with more QPs that is no faster. */
static bool is_one_qp(const struct judged *j)
{
	const struct run_facts *r = j->r;
	double link = j->top.link_gbps, share = r->gbps / link;

	if (r->qps != 1 || !is_full(r) || !(queueing(r) > QUEUES_LITTLE) || j->events->count ||
	    !(link / run_data_share(r) >= FAST_LINK_GBPS) || !(share >= ONE_QP_REACHES))
		return false;
	return LIMIT(j, true, .code = LIMIT_NIC_QP, .share = share,
		     .value = {FINDING_NUMBER("reached", share, "share"),
			       FINDING_NUMBER("link", link, "Gb/s")});
}

/* Below a ceiling that is known, without a reason that was shown. */
static void set_unknown(const struct judged *j)
{
	double link = j->top.link_gbps, pcie = j->top.pcie_gbps;
	bool by_pcie = pcie < link || isnan(link);
	double ceiling = by_pcie ? pcie : link, share = j->r->gbps / ceiling;
	bool steady = run_is_steady(j->r) && !j->r->software;

	finding_make(j->to,
		     &(struct finding_facts){
			     .code = LIMIT_UNKNOWN,
			     .strength = FINDING_CANNOT_TELL,
			     .share = share,
			     .value = {FINDING_NUMBER("reached", share, "share"),
				       FINDING_NUMBER("ceiling", ceiling, "Gb/s"),
				       FINDING_WORD("carrier", by_pcie ? "PCIe link" : "link"),
				       FINDING_NUMBER("steady", steady ? j->r->gbps : NAN, "Gb/s"),
				       FINDING_NUMBER("noise", j->r->noise, "share"),
				       FINDING_WORD("advice", "add --prove, which changes one thing "
							      "at a time")}});
}

void explain_run(const struct run_facts *r, struct limit *l, struct findings *to)
{
	static bool (*const rules[])(const struct judged *j) = {
		is_above_link, is_schedule, is_link,     is_pcie,       is_window, is_not_ready,
		is_core,       is_event,    is_receiver, is_shared_cpu, is_one_qp, is_resent,
	};
	struct judged j = {.r = r,
			   .top = ceilings_of(r),
			   .other = run_other_traffic(r),
			   .events = to,
			   .to = &l->finding};

	*l = (struct limit){.ceilings = j.top};
	explain_events(r, to);
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (rules[i](&j))
			return;
	set_unknown(&j);
}
