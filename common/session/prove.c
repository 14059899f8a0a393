// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* --prove: the run again and again, with one thing changed at a time. */
#include <math.h>
#include <sched.h>
#include <string.h>

#include "base/phase.h"
#include "base/units.h"
#include "endpoint/rail.h"
#include "endpoint/worker.h"
#include "measure/loopback.h"
#include "plan/plan.h"
#include "plan/prove.h"
#include "session/program.h"
#include "verbs/transport.h"

/* What the run that has just ended ran on. E: its experiment, of one window. */
static struct prove_facts facts_of(const struct session *s, const struct experiment *e)
{
	const struct endpoint *ep = &s->ep;
	const struct ibv_device_attr *d = &ep->rail[0].hca.info.attr;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	return (struct prove_facts){
		.base = e,
		.receives = endpoint_receives(ep),
		.fetches = operation_fetches(&ep->test->operation),
		.software = hca_is_software(&ep->rail[0].hca.info),
		.rx_depth = plan_rx_depth(e, &(struct plan_qp){.receives = true,
							       .max_cqe = d->max_cqe,
							       .max_wr = d->max_qp_wr}),
		.max_depth = (unsigned)d->max_qp_wr,
		.cpus = sched_getaffinity(0, sizeof(cpus), &cpus)
				? 1
				: (unsigned)CPU_COUNT(&cpus) / ep->rails,
		.max_bytes = operation_is_atomic(&ep->test->operation)
				     ? e->size_bytes
				     : transport_max_bytes(
					       experiment_transport(e),
					       ep->rail[0].route.mtu_bytes,
					       operation_message_max(&ep->test->operation,
								     &ep->rail[0].hca.info)),
	};
}

/*
 * Measure a window with change C. Returns 0, or -1 with the fault raised; *GBPS NaN: there is no
 * figure of it.
 */
static int run_window(struct session *s, struct prove *p, enum prove_change c, double *gbps)
{
	const struct experiment *e = &p->try[c].experiment;
	struct options *o = &s->program->options;

	*gbps = NAN;
	if (p->try[c].not_tried)
		return 0;
	session_unmake(s);
	o->experiment = *e;
	s->ep.size[0] = e->size_bytes;
	s->ep.sizes = 1;
	if (session_agree(s) || handshake_connect(&s->ms) || measure_trial(&s->ms, gbps))
		return -1;
	if (o->experiment.tx_depth != e->tx_depth)
		prove_refuse(p, c, "the other end's device has no deeper queues");
	return 0;
}

/* Refuse the changes that the other options do not allow. */
static void check_changes(const struct session *s, struct prove *p)
{
	for (int c = PROVE_BASE; c < PROVE_CHANGES; c++) {
		struct fault refused = {0};

		if (!p->try[c].not_tried &&
		    (plan_check(&p->try[c].experiment, &refused) ||
		     operation_check(s->ep.test, &p->try[c].experiment, &refused)))
			prove_refuse(p, c, "the other options do not allow it");
	}
}

/* Play turns until all is told or END_NS. */
static int play_turns(struct session *s, struct prove *p, uint64_t end_ns)
{
	enum prove_change order[3 * PROVE_CHANGES];
	double gbps[3 * PROVE_CHANGES];
	unsigned count, done;

	while ((count = prove_turn(p, order))) {
		for (done = 0; done < count && clock_now_ns() < end_ns && !s->link.interrupted;
		     done++)
			if (run_window(s, p, order[done], &gbps[done]))
				return -1;
		prove_add(p, order, gbps, done);
		if (done < count)
			break;
	}
	return 0;
}

/* This end's adapter with itself, in host memory; 0: unknown. */
static int run_loopback(struct session *s, double *gbps)
{
	const struct hca_port *port = &s->ep.rail[0].hca.info;
	struct loopback l = {.device = port->device, .port = port->port, .memory = ""};
	int rc;

	link_alive_start(&s->link);
	rc = loopback_run(&l, s->link.stop, s->link.fault);
	link_alive_stop(&s->link);
	*gbps = l.gbps;
	return rc;
}

int session_answer_loopback(struct session *s)
{
	json_t *m;
	double gbps;

	if (run_loopback(s, &gbps))
		return -1;
	m = message_new("loopback");
	json_object_set_new(m, "gbps", json_real(gbps));
	return link_send(&s->link, m);
}

/* Both ends' adapters with themselves, one after the other. */
static int run_loopbacks(struct session *s, struct prove *p)
{
	json_t *m;

	if (run_loopback(s, &p->loopback_gbps[0]) || link_send(&s->link, message_new("loopback")) ||
	    link_expect(&s->link, "loopback", &m))
		return -1;
	p->loopback_gbps[1] = json_number_value(json_object_get(m, "gbps"));
	json_decref(m);
	return 0;
}

static void print_try(const struct program *p, const struct prove_try *t, FILE *out)
{
	char times[32] = "";

	if (t->half < t->ratio)
		snprintf(times, sizeof(times), "%.2f ± %.2f", t->ratio, t->half);
	fprintf(out, "%-24s", t->option);
	if (t->windows)
		fprintf(out, " %10s",
			unit_number(p->options.output.gbits, t->window[t->windows - 1].gbps).text);
	else
		fprintf(out, " %10s", "-");
	fprintf(out, "  %14s  ", times);
	for (const char *c = prove_so_name(t); *c; c++)
		fputc(*c == '_' ? ' ' : *c, out);
	fprintf(out, "%s%s\n", t->not_tried ? ": " : "", t->not_tried ? t->not_tried : "");
}

/* The line of the unchanged run: its last window. */
static void print_base(const struct program *program, const struct prove *p, FILE *out)
{
	const struct prove_try *t = &p->try[PROVE_WINDOW];

	if (t->windows)
		fprintf(out, "%-24s %10s\n", "nothing",
			unit_number(program->options.output.gbits,
				    t->window[t->windows - 1].against_gbps)
				.text);
}

/* Tell what P found. */
static void tell(struct program *program, const struct prove *p)
{
	FILE *out = report_own_table(&program->report);
	enum finding_strength strength;
	char text[1024];

	report_own_key(&program->report, "prove", prove_json(p));
	if (out) {
		fprintf(out, "%-24s %10s  %13s\n", "changed",
			unit_name(program->options.output.gbits), "times as fast");
		print_base(program, p, out);
		for (int c = PROVE_BASE + 1; c < PROVE_CHANGES; c++)
			if (p->try[c].planned)
				print_try(program, &p->try[c], out);
		fflush(out);
	}
	prove_limit(p, &strength);
	program->report.notes.proved = strength == FINDING_IS;
	report_note(&program->report, "%s", prove_text(p, text, sizeof(text)));
}

int session_prove(struct session *s)
{
	struct program *program = s->program;
	struct options before = program->options;
	struct experiment base = before.experiment;
	uint64_t end_ns = clock_now_ns() + program->options.output.prove_s * UNITS_NS_PER_S;
	struct prove p = {0};
	char line[1536];
	int rc;

	base.duration_ns = PROVE_WINDOW_NS;
	base.verify = base.reconnect = 0;
	p.facts = facts_of(s, &base);
	prove_plan(&p);
	check_changes(s, &p);
	program->report.trial = true;
	rc = play_turns(s, &p, end_ns);
	if (!rc && prove_plan_together(&p))
		rc = play_turns(s, &p, end_ns);
	if (!rc && prove_is_unmoved(&p) && !p.facts.software)
		rc = run_loopbacks(s, &p);
	rc = rc ? rc : session_leave(s);
	program->report.trial = false;
	program->options = before;
	if (rc) { /* what was measured before stays */
		fault_format(&program->fault, line, sizeof(line));
		report_warning(&program->report, "--prove ended early: %s", line);
		link_tell_peer(&s->link);
		fault_clear(&program->fault);
	}
	tell(program, &p);
	return 0;
}
