// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* This end as a whole: its devices, its threads, and their QPs and memory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/phase.h"
#include "base/text.h"
#include "base/units.h"
#include "endpoint/rail.h"
#include "endpoint/worker.h"
#include "plan/plan.h"
#include "plan/test.h"
#include "verbs/transport.h"

/* Enough for what one "qps" message can hold. */
#define QPS_MAX 65536

void endpoint_fetch_fault(struct endpoint *ep)
{
	for (unsigned i = 0; i < ep->workers_made && !fault_is(ep->fault); i++)
		if (fault_is(&ep->worker[i].fault))
			*ep->fault = ep->worker[i].fault;
}

/* Run JOB(ARG, i) for every worker: in its thread, or IN_TURN in this one until one fails. */
static int run_in_all(struct endpoint *ep, pool_job *job, void *arg, bool in_turn)
{
	unsigned all = ep->workers;
	int rc = 0;

	for (unsigned i = 0; i < ep->workers_made; i++)
		fault_phase(&ep->worker[i].fault, ep->fault->phase);
	if (!in_turn)
		rc = pool_run(&ep->pool, job, arg);
	for (unsigned i = 0; in_turn && i < all && rc == 0; i++)
		rc = job(arg, i);
	endpoint_fetch_fault(ep);
	return rc;
}

/* A job of all workers that needs only the worker. */
struct work {
	struct endpoint *ep;
	int (*of)(struct worker *t);
};

static int do_work(void *arg, unsigned i)
{
	const struct work *work = arg;
	int rc = 0;

	for (; i < work->ep->workers_made && rc == 0; i += work->ep->workers)
		rc = work->of(&work->ep->worker[i]);
	return rc;
}

int endpoint_each(struct endpoint *ep, pool_job *job, void *arg)
{
	return run_in_all(ep, job, arg, ep->gpu != NULL);
}

uint64_t endpoint_progress(const struct endpoint *ep)
{
	uint64_t sum = 0;

	for (unsigned i = 0; ep && i < ep->workers; i++)
		sum += atomic_load_explicit(&ep->control[i].progress, memory_order_relaxed);
	return sum;
}

int endpoint_abort(struct endpoint *ep)
{
	round_abort_all(ep->control, ep->workers_made);
	return -1;
}

static int too_large(struct endpoint *ep, const struct hca_port *p, uint64_t want_bytes,
		     uint64_t max_bytes)
{
	bool sweep = ep->options->experiment.sweep;
	enum fault_code code = endpoint_misfit(ep, "size");

	if (ep->server)
		fault_phase(ep->fault, PHASE_AGREE_CLIENT);
	fault_raise(ep->fault, sweep ? FAULT_USAGE : code, 0,
		    "messages of %s are too large: %s port %u supports at most %s",
		    units_size(want_bytes).text, p->device, p->port, units_size(max_bytes).text);
	return fault_fix(ep->fault, "use a smaller -s");
}

/* Set the largest messages for devices that send up to MAX bytes. */
static void set_largest(struct endpoint *ep, uint64_t max)
{
	struct experiment e = ep->options->experiment;

	for (unsigned i = 1; i < ep->sizes; i++)
		if (ep->size[i] > e.size_bytes)
			e.size_bytes = ep->size[i];
	ep->largest_bytes = plan_last_size(&e, max);
}

static int refuse_transport(struct endpoint *ep, const char *device)
{
	const char *name = experiment_transport(&ep->options->experiment)->name;

	fault_phase(ep->fault, PHASE_DEVICE);
	fault_raise(ep->fault, FAULT_UNAVAILABLE, 0, "%s does not support transport %s", device,
		    name);
	fault_cause(ep->fault, "The device's capabilities (device_cap_flags) do not include %s",
		    name);
	return fault_fix(ep->fault, "use -c RC, or name another device with -d; `ibv_devinfo -v` "
				    "shows what each supports");
}

/* A client's default size is what its port has. */
static void fit_default_size(struct endpoint *ep, uint64_t max)
{
	struct experiment *e = &ep->options->experiment;

	if (ep->server || options_given(ep->options, "size") || e->sweep ||
	    experiment_transport(e)->one_packet)
		return;
	while (max && e->size_bytes > max)
		e->size_bytes /= 2;
}

/*
 * Check that P has what the options need. Before it is open, the peer is to hear of what only the
 * operation needs, but of an EFA; and a server does not know the transport unless it was told.
 */
static int check_port(struct endpoint *ep, const struct hca_port *p)
{
	const struct experiment *e = &ep->options->experiment;
	uint64_t index = ep->options->local.gid_index;
	uint64_t max_bytes = operation_message_max(&ep->test->operation, p);
	bool open = ep->rails;

	fault_phase(ep->fault, PHASE_DEVICE);
	if (endpoint_check_group(ep, p))
		return -1;
	if ((open || !ep->server || options_given(ep->options, "connection")) &&
	    endpoint_efa_check(ep, p))
		return -1;
	if (!transport_is_on(experiment_transport(e), &p->attr))
		return refuse_transport(ep, p->device);
	if (index != EXPERIMENT_AUTO && index >= (uint64_t)p->port_attr.gid_tbl_len)
		return rail_refuse_gid(ep, p);
	if (!open && !ep->server && p->fabric == FABRIC_EFA &&
	    operation_check_device(&ep->test->operation, p, true, true, ep->fault))
		return -1;
	if (ep->server || !options_given(ep->options, "size") ||
	    plan_last_size(e, max_bytes) <= max_bytes)
		return 0;
	fault_phase(ep->fault, PHASE_SIZES);
	return too_large(ep, p, e->size_bytes, max_bytes);
}

int endpoint_check_devices(struct endpoint *ep)
{
	const struct experiment *e = &ep->options->experiment;

	fault_phase(ep->fault, PHASE_DEVICE);
	if (endpoint_efa_choose(ep, &ep->rail[0].hca.info))
		return -1;
	for (unsigned i = 0; i < ep->rails; i++) {
		const struct hca_port *p = &ep->rail[i].hca.info;
		uint64_t max =
			transport_max_bytes(experiment_transport(e), rail_mtu(ep, &ep->rail[i]),
					    operation_message_max(&ep->test->operation, p));

		if (check_port(ep, p))
			return -1;
		fault_phase(ep->fault, PHASE_SIZES);
		fit_default_size(ep, max);
		if (!i || max < ep->largest_bytes)
			set_largest(ep, max);
		if (ep->largest_bytes > max)
			return too_large(ep, p, ep->largest_bytes, max);
	}
	return 0;
}

int endpoint_fit_depth(struct endpoint *ep, uint64_t most)
{
	struct experiment *e = &ep->options->experiment;

	for (unsigned i = 0; i < ep->rails; i++)
		if ((uint64_t)ep->rail[i].hca.info.attr.max_qp_wr < most)
			most = (uint64_t)ep->rail[i].hca.info.attr.max_qp_wr;
	if (!ep->default_depth || e->tx_depth <= most || most < 1)
		return 0;
	if (ep->default_depth < e->tx_depth)
		ep->default_depth = (unsigned)e->tx_depth;
	e->tx_depth = most;
	if (e->post_list <= most)
		return 0;
	if (ep->server)
		fault_phase(ep->fault, PHASE_AGREE_CLIENT);
	return fault_usage(
		ep->fault, "use a smaller -l",
		"-l/--post_list %llu is more than a send queue of the devices holds (%llu)",
		(unsigned long long)e->post_list, (unsigned long long)most);
}

void endpoint_agreed(struct endpoint *ep)
{
	struct experiment *e = &ep->options->experiment;
	uint64_t max = ep->largest_bytes;

	for (unsigned i = 0; i < ep->rails; i++)
		max = transport_max_bytes(experiment_transport(e), ep->rail[i].route.mtu_bytes,
					  max);
	endpoint_iwarp_fit_reads(ep);
	set_largest(ep, max);
	endpoint_use_size(ep, 0);
}

void endpoint_use_size(struct endpoint *ep, unsigned i)
{
	struct experiment *e = &ep->options->experiment;
	uint64_t size = ep->sizes > 1 ? ep->size[i] : e->size_bytes;

	ep->asked_bytes = !e->sweep && size > ep->largest_bytes ? size : 0;
	if (!e->sweep)
		e->size_bytes = ep->asked_bytes ? ep->largest_bytes : size;
}

static int too_many(struct endpoint *ep, const char *what, unsigned have, unsigned max)
{
	return fault_usage(ep->fault, "use fewer", "too many %s: %u, at most %u are possible", what,
			   have, max);
}

static int open_rails(struct endpoint *ep)
{
	const char *list = ep->options->local.device ? ep->options->local.device : "";
	unsigned rails = 0;
	char name[128];

	for (const char *at = list; text_next(&at, name, sizeof(name));)
		rails++;
	if (rails > EXPERIMENT_DEVICES_MAX)
		return too_many(ep, "devices", rails, EXPERIMENT_DEVICES_MAX);
	ep->rail = calloc(rails, sizeof(*ep->rail));
	if (!ep->rail)
		return fault_raise(ep->fault, FAULT_LOCAL, ENOMEM, "allocating %u devices", rails);
	while (text_next(&list, name, sizeof(name)))
		if (rail_open(ep, &ep->rail[ep->rails++], name[0] ? name : NULL))
			return -1;
	return 0;
}

/* P can be opened, and has what the options need. */
static bool port_fits(const struct endpoint *ep, const struct hca_port *p)
{
	struct fault none = {0};
	struct endpoint other = *ep;

	other.fault = &none;
	return !p->open_errno && check_port(&other, p) == 0;
}

/* Which port is used can depend on the peer: refuse what none of LIST has, in the words for P. */
static int check_ports(struct endpoint *ep, const struct hca_list *list, const struct hca_port *p)
{
	if (endpoint_efa_choose(ep, p))
		return -1;
	for (size_t i = 0; i < list->count; i++)
		if (port_fits(ep, &list->port[i]))
			return 0;
	return check_port(ep, p);
}

int endpoint_find(struct endpoint *ep)
{
	const char *names = ep->options->local.device ? ep->options->local.device : "";
	char name[128], reason[160];
	int rc;

	do {
		const struct hca_port *port;
		struct hca_list list;

		text_next(&names, name, sizeof(name));
		port = rail_choose(ep, name[0] ? name : NULL, &list, reason, sizeof(reason));
		rc = port ? check_ports(ep, &list, port) : -1;
		hca_list_free(&list);
	} while (names && rc == 0);
	return rc ? -1 : endpoint_gpu_find(ep);
}

/* The threads are made before one of them is pinned: they inherit where it may run. */
static int make_workers(struct endpoint *ep)
{
	uint64_t threads = ep->options->experiment.threads * ep->rails;
	uint64_t workers = threads * (ep->options->experiment.verify ? 2 : 1);

	if (workers * ep->options->experiment.qps > QPS_MAX)
		return too_many(ep, "QPs", (unsigned)(workers * ep->options->experiment.qps),
				QPS_MAX);
	ep->worker = calloc(workers, sizeof(*ep->worker));
	ep->control = aligned_alloc(_Alignof(struct round_control), workers * sizeof(*ep->control));
	if (!ep->worker || !ep->control)
		return fault_raise(ep->fault, FAULT_LOCAL, ENOMEM, "allocating %u threads",
				   (unsigned)workers);
	memset(ep->control, 0, workers * sizeof(*ep->control));
	ep->workers = (unsigned)threads;
	ep->workers_made = (unsigned)workers;
	for (unsigned i = 0; i < ep->workers_made; i++) {
		ep->worker[i].ep = ep;
		ep->worker[i].rail = &ep->rail[i % ep->rails];
		ep->worker[i].index = i;
		ep->worker[i].control = &ep->control[i];
		ep->worker[i].pin.node = -1;
		ep->control[i].wake_fd = -1;
	}
	return pool_init(&ep->pool, ep->workers, ep->fault);
}

/*
 * The devices support what the test posts; a server whose device does not ends, as it serves
 * nobody.
 */
static int check_operation(struct endpoint *ep)
{
	bool answers = ep->options->experiment.bidirectional || !endpoint_leads(ep);

	fault_phase(ep->fault, PHASE_DEVICE);
	for (unsigned i = 0; i < ep->rails; i++)
		if (endpoint_check_group(ep, &ep->rail[i].hca.info) ||
		    operation_check_device(&ep->test->operation, &ep->rail[i].hca.info,
					   endpoint_sends(ep), answers, ep->fault))
			return -1;
	return 0;
}

int endpoint_open(struct endpoint *ep)
{
	endpoint_gpu_before_open(ep);
	if (endpoint_choose_groups(ep) || open_rails(ep) || endpoint_iwarp_check(ep) ||
	    check_operation(ep) || make_workers(ep) ||
	    run_in_all(ep, do_work, &(struct work){ep, worker_pin}, false))
		return -1;
	return endpoint_gpu_open(ep);
}

int endpoint_make(struct endpoint *ep)
{
	/* The GPU's driver must be called from the thread that opened the GPU. */
	if (endpoint_check_memory(ep) ||
	    endpoint_each(ep, do_work, &(struct work){ep, worker_make}))
		return -1;
	for (unsigned i = 0; i < ep->rails; i++)
		rail_set_route(ep, &ep->rail[i]);
	return 0;
}

int endpoint_connect(struct endpoint *ep)
{
	return run_in_all(ep, do_work, &(struct work){ep, worker_connect}, false);
}

void endpoint_quiesce(struct endpoint *ep)
{
	pool_release(&ep->pool);
	for (unsigned i = 0; i < ep->workers_made; i++)
		worker_quiesce(&ep->worker[i]);
}

void endpoint_release(struct endpoint *ep)
{
	for (unsigned i = 0; i < ep->workers_made; i++)
		worker_release(&ep->worker[i]);
	free(ep->worker);
	free(ep->control);
	gpu_close(ep->gpu);
	for (unsigned i = 0; i < ep->rails; i++)
		hca_release(&ep->rail[i].hca);
	free(ep->rail);
}
