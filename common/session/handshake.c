// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The agreement of both ends. Each half of an exchange is next to the other one. */
#include "base/phase.h"
#include "session/program.h"

#include <string.h>

#include "endpoint/rail.h"
#include "endpoint/worker.h"
#include "proto/fields.h"
#include "verbs/pkey.h"
#include "verbs/transport.h"

/* What this end tells of rail R: link type, P_Key, and the depth of READs that it supports. */
static struct hello_rail rail_hello(struct endpoint *ep, const struct rail *r)
{
	struct hello_rail to = {
		.fabric = r->hca.info.fabric,
		.message_max = (unsigned)operation_message_max(&ep->test->operation, &r->hca.info),
	};

	if (operation_fetches(&ep->test->operation))
		to.reads = rail_reads(ep, r);
	rail_subnet(r, to.subnet, sizeof(to.subnet));
	to.global = rail_is_global(ep, r);
	rail_pkey(ep, r, &to.pkey);
	to.default_pkey = rail_default_pkey(ep, r);
	return to;
}

static json_t *make_offer(struct endpoint *ep, const struct rail *r)
{
	struct hello_rail mine = rail_hello(ep, r);
	enum gid_kind kinds[GID_KINDS];
	size_t n = rail_gid_kinds(ep, r, kinds);

	mine.mtu_bytes = rail_mtu(ep, r);
	for (size_t i = 0; i < n; i++)
		mine.gid_kinds[i] = (char)('0' + kinds[i]);
	return fields_write(hello_fields(), &mine, json_object());
}

/* Add to a hello or welcome what both ends tell of themselves. */
static json_t *make_introduction(const struct endpoint *ep, const struct link *l, const char *type,
				 json_t *rails)
{
	json_t *m = message_new(type);

	json_object_set_new(m, "protocol", json_integer(MESSAGE_PROTOCOL));
	json_object_set_new(m, "version", json_string(RDMARK_VERSION));
	json_object_set_new(m, "rails", rails);
	json_object_set_new(m, "timeout_ns", json_integer((json_int_t)l->timeout_ns));
	if (ep->gpu_memory)
		json_object_set_new(m, "gpu_memory", json_true());
	return m;
}

json_t *handshake_hello(const struct measure *ms)
{
	struct endpoint *ep = ms->ep;
	json_t *rails = json_array(), *sizes = json_array(), *m;

	fault_phase(ms->fault, PHASE_AGREE_SERVER);
	link_bound(ms->link, &ep->options->experiment, ep->rails);
	for (unsigned i = 0; i < ep->rails; i++)
		json_array_append_new(rails, make_offer(ep, &ep->rail[i]));
	m = make_introduction(ep, ms->link, "hello", rails);
	json_object_set_new(m, "test", json_string(ep->test->name));
	json_object_set_new(m, "experiment",
			    experiment_to_json(&ep->options->experiment, ep->options->traits));
	hello_write_sweep(&ep->options->sweep, m);
	hello_write_given(ep->options, m);
	if (ep->default_depth)
		json_object_set_new(m, "default_depth", json_true());
	if (ms->report->trial)
		json_object_set_new(m, "trial", json_true());
	for (unsigned i = 0; i < ep->sizes; i++)
		json_array_append_new(sizes, json_integer((json_int_t)ep->size[i]));
	json_add_parts(m, "sizes", sizes, 2);
	if (!fault_is(ms->fault))
		return m;
	json_decref(m);
	return NULL;
}

int handshake_read_timeout(struct link *l, const json_t *m)
{
	const struct option_row *row = options_find("timeout");

	if (message_u64(m, "timeout_ns", row->max, &l->peer_timeout_ns, l->fault))
		return -1;
	return message_has(m, "timeout_ns", l->peer_timeout_ns >= row->min, l->fault);
}

/*
 * Set whether the loops with immediate data run: with --write_with_imm, and in a latency test if
 * this end, or the peer by its M, uses GPU memory, or the transport has no order.
 */
static int read_memory(struct endpoint *ep, const json_t *m)
{
	const struct hca_port *iwarp = endpoint_iwarp(ep);
	bool theirs, unordered = !experiment_transport(&ep->options->experiment)->ordered;

	if (message_flag(m, "gpu_memory", &theirs, ep->fault))
		return -1;
	/* Polled memory is no GPU's, and has the last bytes last. */
	ep->immediate = ep->test->lead_immediate &&
			(ep->options->experiment.write_with_imm ||
			 (ep->test->latency && (unordered || ep->gpu_memory || theirs)));
	if (iwarp && operation_check_iwarp(&ep->test->operation, &ep->options->experiment,
					   iwarp->device, false, ep->immediate, ep->fault))
		return -1;
	return operation_check_events(ep->test, &ep->options->experiment, ep->immediate, ep->fault);
}

/*
 * Read THEIRS of rail R from the client's offer, or from what the server chose of it, and agree on
 * P_Key, MTU, size and READs: the server takes the smaller MTU.
 */
static int agree_on_rail(struct endpoint *ep, struct rail *r, const json_t *from,
			 struct hello_rail *theirs)
{
	const struct experiment *e = &ep->options->experiment;
	unsigned mine = rail_mtu(ep, r);

	*theirs = (struct hello_rail){.reads = {1, 1}};
	if (fields_read(hello_fields(), theirs, from, ep->fault) ||
	    rail_agree_on_pkey(ep, r, theirs->pkey, ep->server ? theirs->default_pkey : 0))
		return -1;
	r->route.mtu_bytes = theirs->mtu_bytes < mine ? theirs->mtu_bytes : mine;
	if (!hca_mtu_enum(r->route.mtu_bytes) || (!ep->server && theirs->mtu_bytes > mine))
		return fault_raise(ep->fault, FAULT_PEER, 0, "the %s proposed an invalid MTU of %u",
				   ep->server ? "client" : "server", theirs->mtu_bytes);
	/* A sweep of sizes ends with the largest that both ends support. */
	if (e->sweep && theirs->message_max >= plan_first_size(e) &&
	    theirs->message_max < ep->largest_bytes)
		ep->largest_bytes = plan_last_size(e, theirs->message_max);
	rail_agree_on_reads(ep, r, &theirs->reads);
	return 0;
}

/* Under perftest's names: the client has decided what the two ends differ in. */
static void note_decided(const struct measure *ms, const char *differences)
{
	report_warning(ms->report, "the two ends differ in %s; the client decides", differences);
}

int handshake_apply_welcome(struct measure *ms, const json_t *m)
{
	const json_t *rails = json_object_get(m, "rails");
	struct endpoint *ep = ms->ep;
	struct hello_rail choice;
	char decided[512];
	uint64_t protocol, depth;

	if (message_u64(m, "protocol", UINT32_MAX, &protocol, ep->fault) ||
	    message_has(m, "protocol", protocol == MESSAGE_PROTOCOL, ep->fault) ||
	    message_has(m, "rails", json_array_size(rails) == ep->rails, ep->fault) ||
	    handshake_read_timeout(ms->link, m) || read_memory(ep, m))
		return -1;
	for (unsigned i = 0; i < ep->rails; i++)
		if (agree_on_rail(ep, &ep->rail[i], json_array_get(rails, i), &choice) ||
		    rail_use_gid(ep, &ep->rail[i], (enum gid_kind)(choice.gid_kinds[0] - '0')))
			return -1;
	if (message_u64_if(m, "tx_depth", UINT32_MAX, &depth, ep->fault) ||
	    (depth && endpoint_fit_depth(ep, depth)))
		return -1;
	if (json_object_get(m, "decided")) {
		if (message_text(m, "decided", decided, sizeof(decided), ep->fault))
			return -1;
		note_decided(ms, decided);
	}
	endpoint_agreed(ep);
	return connect_cm_aim(ep, m);
}

/* Both ends of rail R are of one fabric. */
static int agree_on_transport(struct endpoint *ep, const struct rail *r,
			      const struct hello_rail *theirs)
{
	const struct hca_port *p = &r->hca.info;
	const struct fabric_row *there = fabric_row(theirs->fabric);
	const struct fabric_row *here = fabric_row(p->fabric);
	bool same_link = strcmp(there->link, here->link) == 0;

	if (there == here)
		return 0;
	fault_raise(
		ep->fault, endpoint_misfit(ep, "ib-dev"), 0,
		"the two ends have different %s: %s on the server's %s, %s on the client's",
		same_link ? "transports" : "link layers",
		same_link ? here->name : here->link, p->device,
		same_link ? there->name : there->link);
	return fault_fix(ep->fault, "choose devices of one fabric with -d on both ends");
}

/* LIDs are of one subnet: without a GRH at both ends, no packet leaves it. */
static int agree_on_subnet(struct endpoint *ep, const struct rail *r,
			   const struct hello_rail *theirs)
{
	struct hello_rail mine = rail_hello(ep, r);

	if (!theirs->subnet[0] || !mine.subnet[0] || strcmp(theirs->subnet, mine.subnet) == 0 ||
	    (theirs->global && mine.global))
		return 0;
	fault_raise(ep->fault, endpoint_misfit(ep, "ib-dev"), 0,
		    "the two ends are in different subnets: %s/64 of the server's %s, %s/64 of the "
		    "client's",
		    mine.subnet, r->hca.info.device, theirs->subnet);
	fault_cause(ep->fault, "LIDs reach the ports of their own subnet only");
	return fault_fix(ep->fault, "choose devices of one subnet with -d on both ends; if an "
				    "InfiniBand router connects the two, give -x 0 at both ends");
}

/* The first kind of GID that both ends of rail R have, in the order of the client's, THEIRS. */
static int agree_on_gid(struct endpoint *ep, struct rail *r, const struct hello_rail *theirs,
			enum gid_kind *kind)
{
	enum gid_kind mine[GID_KINDS];
	size_t n = rail_gid_kinds(ep, r, mine);
	const char *kinds = theirs->gid_kinds;

	if (fault_is(ep->fault) || agree_on_transport(ep, r, theirs) ||
	    agree_on_subnet(ep, r, theirs))
		return -1;
	for (size_t i = 0; kinds[i]; i++)
		for (size_t k = 0; k < n; k++)
			if (kinds[i] == (char)('0' + mine[k])) {
				*kind = mine[k];
				return 0;
			}
	*kind = fabric_row(r->hca.info.fabric)->kind;
	if (*kind != GID_KINDS)
		return 0; /* LIDs do, or IP addresses */
	fault_raise(
		ep->fault, endpoint_misfit(ep, "gid-index"), 0,
		"the two ends have no type of GID in common: the first type of the server's %s is %s, "
		"of the client's %s",
		r->hca.info.device, n ? gid_kind_name(mine[0]) : "none",
		kinds[0] ? gid_kind_name((enum gid_kind)(kinds[0] - '0')) : "none");
	return fault_fix(ep->fault, "give both netdevs an address of one family, or choose GIDs "
				    "with -x on both ends");
}

/*
 * Server: choose from the client's OFFER for rail R, and append that, with this end's depth of
 * READs, to CHOICES.
 */
static int choose_port(struct endpoint *ep, struct rail *r, const json_t *offer, json_t *choices)
{
	struct hello_rail theirs, choice;
	enum gid_kind kind;

	if (agree_on_rail(ep, r, offer, &theirs) ||
	    agree_on_gid(ep, r, &theirs, &kind) ||
	    rail_use_gid(ep, r, kind))
		return -1;
	choice = rail_hello(ep, r);
	choice.gid_kinds[0] = (char)('0' + kind);
	choice.mtu_bytes = r->route.mtu_bytes;
	if (r->route.pkey_index) /* another than the client expects */
		choice.pkey = pkey_read(&r->hca, r->route.pkey_index);
	json_array_append_new(choices, fields_write(hello_fields(), &choice, json_object()));
	return fault_is(ep->fault) ? -1 : 0;
}

static int choose_all(struct endpoint *ep, const json_t *hello, json_t *choices)
{
	const json_t *offers = json_object_get(hello, "rails");
	size_t n = json_array_size(offers);

	if (n != ep->rails)
		return fault_usage(
			ep->fault, "name the same number of devices with -d on both ends",
			"the two ends use different numbers of devices: server %u, client %zu",
			ep->rails, n);
	for (unsigned i = 0; i < ep->rails; i++)
		if (choose_port(ep, &ep->rail[i], json_array_get(offers, i), choices))
			return -1;
	return 0;
}

int handshake_welcome(struct measure *ms, const json_t *hello, const char *decided)
{
	json_t *m, *choices;

	fault_phase(ms->fault, PHASE_AGREE_CLIENT);
	if (read_memory(ms->ep, hello))
		return -1;
	choices = json_array();
	if (choose_all(ms->ep, hello, choices)) {
		json_decref(choices);
		return -1;
	}
	endpoint_agreed(ms->ep);
	m = make_introduction(ms->ep, ms->link, "welcome", choices);
	if (ms->ep->default_depth)
		json_object_set_new(m, "tx_depth",
				    json_integer((json_int_t)ms->options->experiment.tx_depth));
	if (*decided) {
		json_object_set_new(m, "decided", json_string(decided));
		note_decided(ms, decided);
	}
	if (connect_cm_listen(ms->ep, m)) {
		json_decref(m);
		return -1;
	}
	return link_send(ms->link, m);
}

/*
 * Note this end's wall clock: when its description is sent, and again when the peer's has come, so
 * that what both ends say is of the same time but for the way.
 */
static void note_clock(struct endpoint *ep)
{
	int64_t now_us = (int64_t)(clock_utc_ns() / 1000);

	for (unsigned i = 0; i < ep->rails; i++)
		ep->rail[i].mine.utc_us = now_us;
}

static json_t *describe_qps(struct endpoint *ep)
{
	json_t *m = message_new("qps"), *workers = json_array(), *ends = json_array();

	note_clock(ep);
	for (unsigned i = 0; i < ep->workers_made; i++)
		json_array_append_new(workers, message_from_qps(&ep->worker[i].mine));
	for (unsigned i = 0; i < ep->rails; i++)
		json_array_append_new(ends, end_to_json(&ep->rail[i].mine));
	json_object_set_new(m, "strands", workers);
	json_object_set_new(m, "ends", ends);
	return m;
}

static int read_qps(struct endpoint *ep, const json_t *m)
{
	const json_t *workers = json_object_get(m, "strands"), *ends = json_object_get(m, "ends");

	if (message_has(m, "strands", json_array_size(workers) == ep->workers_made,
			ep->fault) ||
	    message_has(m, "ends", json_array_size(ends) == ep->rails, ep->fault))
		return -1;
	note_clock(ep);
	for (unsigned i = 0; i < ep->workers_made; i++)
		if (message_read_qps(json_array_get(workers, i), ep->worker[i].qps.count,
				     &ep->worker[i].theirs, ep->fault))
			return -1;
	for (unsigned i = 0; i < ep->rails; i++)
		if (end_from_json(&ep->rail[i].theirs, json_array_get(ends, i), ep->fault))
			return -1;
	return 0;
}

/* *THEIRS may have come while rdma_cm connected the QPs. */
static int exchange_qps(struct measure *ms, json_t **theirs)
{
	struct endpoint *ep = ms->ep;

	fault_phase(ep->fault, PHASE_EXCHANGE_QPS);
	if (!ep->server && link_send(ms->link, describe_qps(ep)))
		return -1;
	if (!*theirs && link_expect(ms->link, "qps", theirs))
		return -1;
	if (read_qps(ep, *theirs) || endpoint_connect(ep))
		return -1;
	/* Answer last: the client may send at once, and this end is ready now. */
	ms->link->told_keys = true;
	return ep->server ? link_send(ms->link, describe_qps(ep)) : 0;
}

int handshake_connect(struct measure *ms)
{
	json_t *theirs = NULL;
	int rc;

	link_alive_start(ms->link); /* buffers may take long */
	rc = endpoint_make(ms->ep) || measure_make(ms) ? -1 : 0;
	link_alive_stop(ms->link);
	if (rc == 0)
		rc = connect_cm(ms->ep, ms->link, "qps", ms->ep->server ? &theirs : NULL);
	if (rc == 0 && ms->ep->options->experiment.rdma_cm && !ms->ep->server)
		rc = endpoint_iwarp_first(ms->ep, ms->link->stop);
	if (rc == 0)
		rc = exchange_qps(ms, &theirs);
	json_decref(theirs);
	return rc;
}
