// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* This end as a whole: its devices, its threads, and what stands on them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "session/plan.h"
#include "session/state.h"
#include "session/transport.h"

/* Enough for what one "qps" message can hold. */
#define QPS_MAX 65536

bool endpoint_leads(const struct session *s)
{
	return s->report.about.server == (s->options.experiment.reversed != 0);
}

/* Have every strand do JOB; the first fault is the session's. */
static int every_strand(struct session *s, crew_job *job)
{
	int rc;

	for (unsigned i = 0; i < session_all_strands(s); i++)
		fault_phase(&s->strand[i].fault, s->fault.phase);
	rc = crew_run(&s->crew, job, s);
	for (unsigned i = 0; i < session_all_strands(s) && !fault_is(&s->fault); i++)
		if (fault_is(&s->strand[i].fault))
			s->fault = s->strand[i].fault;
	return rc;
}

static int too_large(struct session *s, const struct hca_port *p, uint64_t want_bytes,
		     uint64_t max_bytes, const char *option)
{
	char have[32], want[32];

	fault_raise(&s->fault, FAULT_USAGE, 0, "messages of %s: %s port %u takes at most %s",
		    units_format_size(want_bytes, want, sizeof(want)), p->device, p->port,
		    units_format_size(max_bytes, have, sizeof(have)));
	return fault_fix(&s->fault, "use a smaller %s", option);
}

static int check_size(struct session *s)
{
	const struct experiment *e = &s->options.experiment;

	fault_phase(&s->fault, "choosing the message sizes");
	for (unsigned i = 0; i < s->rails; i++) {
		const struct hca_port *p = &s->rail[i].hca.info;
		uint64_t max =
			transport_max_bytes(e, rail_mtu(s, &s->rail[i]), p->port_attr.max_msg_sz);
		uint64_t largest = plan_last_size(e, max);

		if (!i || largest < s->largest_bytes)
			s->largest_bytes = largest;
		s->message_max = s->largest_bytes;
		if (s->matrix && s->message_max < e->staged_chunk_bytes)
			s->message_max = e->staged_chunk_bytes;
		if (e->load && e->load_bytes > p->port_attr.max_msg_sz)
			return too_large(s, p, e->load_bytes, p->port_attr.max_msg_sz,
					 "--load-size");
		if (s->message_max <= max)
			continue;
		return too_large(s, p, s->message_max, max,
				 s->largest_bytes > max ? "-s" : "--staged-chunk");
	}
	return 0;
}

void endpoint_agreed(struct session *s)
{
	struct experiment *e = &s->options.experiment;
	uint64_t max = s->largest_bytes;

	for (unsigned i = 0; i < s->rails; i++)
		max = transport_max_bytes(e, s->rail[i].route.mtu_bytes, max);
	if (e->connection != CONNECTION_UD)
		return;
	s->largest_bytes = s->message_max = plan_last_size(e, max);
	if (e->sweep || e->size_bytes <= max)
		return;
	report_note(&s->report, "messages of %llu bytes: a datagram is no larger than the MTU",
		    (unsigned long long)max);
	e->size_bytes = max;
}

/* The next of the names in *LIST, which goes on to the one after it; NULL: no more. */
static const char *next_name(const char **list, char *buf, size_t size)
{
	size_t n;

	if (!*list)
		return NULL;
	n = strcspn(*list, ",");
	snprintf(buf, size, "%.*s", (int)(n < size ? n : size), *list);
	*list = (*list)[n] ? *list + n + 1 : NULL;
	return buf;
}

static int too_many(struct session *s, const char *what, unsigned have, unsigned max)
{
	fault_raise(&s->fault, FAULT_USAGE, 0, "%u %s: at most %u", have, what, max);
	return fault_fix(&s->fault, "use fewer");
}

static int open_rails(struct session *s)
{
	const char *list = s->options.local.device ? s->options.local.device : "";
	char name[128];

	while (next_name(&list, name, sizeof(name))) {
		if (s->rails == SESSION_RAILS_MAX)
			return too_many(s, "devices", s->rails + 1, SESSION_RAILS_MAX);
		s->rails++;
		if (rail_open(s, &s->rail[s->rails - 1], name[0] ? name : NULL))
			return -1;
	}
	return 0;
}

/* A matrix of cells is one thread's on one device, and has its own order of directions. */
static int check_matrix(struct session *s)
{
	const struct experiment *e = &s->options.experiment;
	const char *what = s->rails > 1       ? "several devices"
			   : e->threads > 1   ? "several threads"
			   : e->bidirectional ? "-b/--bidirectional"
			   : e->reversed      ? "--reversed"
					      : NULL;

	if (!s->matrix || !what)
		return 0;
	fault_raise(&s->fault, FAULT_USAGE, 0, "%s with all cells", what);
	return fault_fix(&s->fault, "leave that out, or add --plain");
}

int endpoint_look(struct session *s, struct hca_list *list)
{
	const char *names = s->options.local.device ? s->options.local.device : "";
	const struct hca_port *port = NULL;
	char name[128], reason[160];

	do {
		struct hca_wish wish = {.port = 0};

		hca_list_free(list);
		next_name(&names, name, sizeof(name));
		wish.device = name[0] ? name : NULL;
		if (s->options.local.ib_port != EXPERIMENT_AUTO)
			wish.port = (int)s->options.local.ib_port;
		if (hca_scan(list, wish.device, &s->fault))
			return -1;
		port = hca_choose(list, &wish, reason, sizeof(reason), &s->fault);
	} while (port && names);
	return port ? 0 : -1;
}

static int pin_job(void *arg, unsigned i)
{
	return strand_pin(&((struct session *)arg)->strand[i]);
}

/* The threads are made before one of them is pinned: they inherit where it may run. */
static int make_strands(struct session *s)
{
	uint64_t strands = s->options.experiment.threads * s->rails;
	uint64_t loads = s->options.experiment.load ? s->rails : 0, all = strands + loads;

	if (strands * s->options.experiment.qps > QPS_MAX)
		return too_many(s, "QPs", (unsigned)(strands * s->options.experiment.qps), QPS_MAX);
	s->strand = calloc(all, sizeof(*s->strand));
	s->control = aligned_alloc(_Alignof(struct round_control), all * sizeof(*s->control));
	if (!s->strand || !s->control)
		return fault_raise(&s->fault, FAULT_LOCAL, ENOMEM, "%u threads", (unsigned)strands);
	memset(s->control, 0, all * sizeof(*s->control));
	s->strands = (unsigned)strands;
	s->loads = (unsigned)loads;
	for (unsigned i = 0; i < session_all_strands(s); i++) {
		s->strand[i].session = s;
		s->strand[i].rail = &s->rail[i % s->rails];
		s->strand[i].index = i;
		s->strand[i].is_load = i >= s->strands;
		s->strand[i].control = &s->control[i];
		s->strand[i].pin.node = -1;
		s->control[i].wake_fd = -1;
	}
	return crew_init(&s->crew, (unsigned)all, &s->fault);
}

int endpoint_open(struct session *s)
{
	endpoint_gpu_before_open(s);
	fault_phase(&s->fault, "preparing rdma_cm");
	if (s->options.experiment.rdma_cm && cm_look(&s->fault))
		return -1;
	if (open_rails(s) || check_matrix(s) || make_strands(s) || every_strand(s, pin_job) ||
	    endpoint_gpu_open(s))
		return -1;
	return check_size(s);
}

static int make_job(void *arg, unsigned i)
{
	return strand_make(&((struct session *)arg)->strand[i]);
}

/* A GPU's driver is for the thread that opened the GPU. */
static int make_one_by_one(struct session *s)
{
	for (unsigned i = 0; i < session_all_strands(s); i++)
		if (strand_make(&s->strand[i])) {
			s->fault = s->strand[i].fault;
			return -1;
		}
	return 0;
}

static int make_all(struct session *s)
{
	if (s->gpu ? make_one_by_one(s) : every_strand(s, make_job))
		return -1;
	for (unsigned i = 0; i < s->rails; i++)
		rail_set_route(s, &s->rail[i]);
	return s->test->open ? s->test->open(s, &s->own) : 0;
}

int endpoint_make(struct session *s)
{
	struct watch w;
	int rc;

	session_alive_start(s, &w);
	rc = make_all(s);
	session_alive_stop(s, &w);
	return rc;
}

static int connect_job(void *arg, unsigned i)
{
	return strand_connect(&((struct session *)arg)->strand[i]);
}

int endpoint_connect(struct session *s)
{
	const struct experiment *e = &s->options.experiment;
	const struct qp_set *qps = &s->strand[0].qps;
	uint64_t first = plan_first_size(e);

	if ((!e->rdma_cm && every_strand(s, connect_job)) || counting_start(s))
		return -1;
	s->calls_settled = false;
	s->effective = (struct report_effective){
		.mtu_bytes = s->rail[0].route.mtu_bytes,
		.tx_depth = qps->tx_depth,
		.rx_depth = qps->rx_depth,
		.inline_bytes = qps->inline_bytes,
		.cq_mod = e->rate_limit ? (unsigned)e->post_list
					: plan_cq_mod(e, first, qps->send.cqe),
		.warmup = plan_warmup(e, first, s->test->latency),
		.connected_by = e->rdma_cm ? carrier_rdma_cm()->name : carrier_tcp()->name,
		.exchanged_over = s->oob.carrier->name,
	};
	return 0;
}

json_t *endpoint_describe(const struct session *s)
{
	json_t *m = message_new("qps"), *strands = json_array(), *ends = json_array();

	for (unsigned i = 0; i < session_all_strands(s); i++)
		json_array_append_new(strands, message_from_qps(&s->strand[i].mine));
	for (unsigned i = 0; i < s->rails; i++)
		json_array_append_new(ends, end_to_json(&s->rail[i].mine));
	json_object_set_new(m, "strands", strands);
	json_object_set_new(m, "ends", ends);
	return m;
}

int endpoint_read_peer(struct session *s, const json_t *m)
{
	const json_t *strands = json_object_get(m, "strands"), *ends = json_object_get(m, "ends");

	if (message_has(m, "strands", json_array_size(strands) == session_all_strands(s),
			&s->fault) ||
	    message_has(m, "ends", json_array_size(ends) == s->rails, &s->fault))
		return -1;
	for (unsigned i = 0; i < session_all_strands(s); i++)
		if (message_read_qps(json_array_get(strands, i), s->strand[i].qps.count,
				     &s->strand[i].theirs, &s->fault))
			return -1;
	for (unsigned i = 0; i < s->rails; i++)
		if (end_from_json(&s->rail[i].theirs, json_array_get(ends, i), &s->fault))
			return -1;
	return 0;
}

static void release_strands(struct session *s)
{
	/* The QPs go first: nothing may touch memory that is about to be deregistered. */
	for (unsigned i = 0; i < session_all_strands(s); i++)
		strand_quiesce(&s->strand[i]);
	if (s->test->close)
		s->test->close(s->own);
	s->own = NULL;
	for (unsigned i = 0; i < session_all_strands(s); i++)
		strand_release(&s->strand[i]);
	free(s->strand);
	free(s->control);
	s->strand = NULL;
	s->control = NULL;
	s->strands = s->loads = 0;
}

void endpoint_release(struct session *s)
{
	crew_release(&s->crew);
	release_strands(s);
	gpu_close(s->gpu);
	s->gpu = NULL;
	s->gpu_memory = s->immediate = false;
	memset(&s->gpu_absent, 0, sizeof(s->gpu_absent));
	for (unsigned i = 0; i < s->rails; i++)
		rail_release(&s->rail[i]);
	s->rails = 0;
}
