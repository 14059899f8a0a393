// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The device list, opening and closing. */
#include "null.h"
#include "fault.h"
#include "script.h"
#include "steps.h"
#include "td.h"
#include "trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#undef ibv_query_port

struct sim_tables sim_tables = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static struct sim_conf conf;
static pthread_once_t conf_once = PTHREAD_ONCE_INIT;
static struct sim_device devices[DESC_DEVS];

static void device_forked(void)
{
	memset(&sim_tables, 0, sizeof(sim_tables));
	pthread_mutex_init(&sim_tables.mutex, NULL);
}

static __attribute__((constructor)) void device_setup(void)
{
	pthread_atfork(NULL, NULL, device_forked);
}

static bool env_on(const char *name)
{
	const char *v = getenv(name);

	return v && *v && strcmp(v, "0");
}

static double env_number(const char *name)
{
	const char *v = getenv(name);

	return v ? strtod(v, NULL) : 0;
}

static void device_init(struct sim_device *dev, int index)
{
	const char *root = getenv("SIMVERBS_SYSFS");
	bool iwarp = conf.desc.dev[index].features & DESC_IWARP;
	bool efa = conf.desc.dev[index].features & DESC_EFA;
	struct ibv_device *d = &dev->ibv;

	dev->index = index;
	d->node_type = efa ? IBV_NODE_UNSPECIFIED : iwarp ? IBV_NODE_RNIC : IBV_NODE_CA;
	d->transport_type = efa     ? IBV_TRANSPORT_UNSPECIFIED
			    : iwarp ? IBV_TRANSPORT_IWARP
				    : IBV_TRANSPORT_IB;
	snprintf(d->name, sizeof(d->name), "%s", conf.desc.dev[index].name);
	snprintf(d->dev_name, sizeof(d->dev_name), "uverbs%d", index);
	snprintf(d->dev_path, sizeof(d->dev_path), "%.100s/class/infiniband_verbs/%s",
		 root ? root : "/sys", d->dev_name);
	snprintf(d->ibdev_path, sizeof(d->ibdev_path), "%.100s/class/infiniband/%s",
		 root ? root : "/sys", d->name);
}

static void conf_init(void)
{
	int i;

	conf.scripted = script_get() != NULL;
	conf.null = conf.scripted || env_on("SIMVERBS_NULL");
	conf.defer = env_on("SIMVERBS_DEFER");
	conf.debug = env_on("SIMVERBS_DEBUG");
	conf.gbps = env_number("SIMVERBS_GBPS");
	conf.latency_ns = env_number("SIMVERBS_LATENCY_NS");
	conf.gap_ns = env_number("SIMVERBS_GAP_NS");
	conf.paced = conf.gbps > 0 || conf.latency_ns;
	conf.timed = conf.null && (conf.latency_ns || conf.gap_ns || conf.scripted);
	errno = 0;
	if (desc_load(&conf.desc, getenv("SIMVERBS_DEVICES"))) {
		conf.desc.ndev = 0;
		conf.no_memory = errno == ENOMEM;
	}
	for (i = 0; i < conf.desc.ndev; i++)
		device_init(&devices[i], i);
	fault_init();
}

const struct sim_conf *sim_conf(void)
{
	pthread_once(&conf_once, conf_init);
	return &conf;
}

uint64_t sim_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

struct ibv_device **ibv_get_device_list(int *num)
{
	const struct sim_conf *c = sim_conf();
	struct ibv_device **list;
	int i;

	if (num)
		*num = 0;
	if (fault_call(FAULT_ibv_get_device_list))
		return NULL;
	errno = ENOMEM;
	list = c->no_memory ? NULL : calloc(c->desc.ndev + 1, sizeof(*list));
	if (!list)
		return NULL;
	for (i = 0; i < c->desc.ndev; i++)
		list[i] = &devices[i].ibv;
	if (num)
		*num = c->desc.ndev;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

int ibv_get_device_index(struct ibv_device *device)
{
	return ((struct sim_device *)device)->index;
}

__be64 ibv_get_device_guid(struct ibv_device *device)
{
	return htobe64(conf.desc.dev[ibv_get_device_index(device)].guid);
}

static void fill_ports(struct sim_context *ctx, struct shm_seg *seg)
{
	int n, i;

	for (n = 0; n < ctx->desc->nports; n++) {
		const struct desc_port *from = &ctx->desc->port[n];
		struct shm_port *to = &seg->port[ctx->index][n];

		to->link = port_link(from);
		to->lid = from->lid;
		to->lmc = from->lmc;
		to->ngids = from->ngids;
		to->mtu = from->mtu;
		for (i = 0; i < from->ngids; i++) {
			memcpy(to->gid[i].raw, from->gid[i].raw, 16);
			to->gid[i].type = from->gid[i].version;
		}
		atomic_store(&to->up, from->state == IBV_PORT_ACTIVE);
	}
}

static int open_fabric(struct sim_context *ctx)
{
	struct peer *self;

	if (conf.null) {
		ctx->v.context.async_fd = eventfd(0, EFD_CLOEXEC);
		return ctx->v.context.async_fd < 0 ? -1 : 0;
	}
	self = peer_self();
	if (!self)
		return -1;
	if (!self->seg->port[ctx->index][0].mtu)
		fill_ports(ctx, self->seg);
	return chan_open_async(ctx);
}

static void set_ops(struct sim_context *ctx)
{
	struct ibv_context_ops *ops = &ctx->v.context.ops;
	unsigned int have = ctx->desc->features;

	ctx->v.sz = sizeof(ctx->v);
	ctx->v.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	ctx->v.query_port = sim_query_port;
	ctx->v.create_srq_ex = sim_create_srq_ex;
	ctx->v.get_srq_num = sim_get_srq_num;
	ctx->v.query_rt_values = sim_query_rt_values;
	ctx->v.modify_cq = sim_modify_cq;
	ctx->v.create_qp_ex = sim_create_qp_ex;
	if (have & DESC_XRC) {
		ctx->v.open_xrcd = sim_open_xrcd;
		ctx->v.close_xrcd = sim_close_xrcd;
	}
	if (have & DESC_CQEX)
		ctx->v.create_cq_ex = sim_create_cq_ex;
	if (have & DESC_DEVEX)
		ctx->v.query_device_ex = sim_query_device_ex;
	ops->poll_cq = conf.null ? null_poll_cq : sim_poll_cq;
	ops->req_notify_cq = conf.null ? null_req_notify : sim_req_notify;
	ops->post_send = conf.null ? null_post_send : sim_post_send;
	ops->post_recv = conf.null ? null_post_recv : sim_post_recv;
	ops->post_srq_recv = conf.null ? null_post_srq_recv : sim_post_srq_recv;
	if (conf.scripted) {
		null_scripted_ops(ops);
	} else if (conf.timed) {
		null_timed_init();
		ops->poll_cq = null_timed_poll_cq;
		ops->post_send = null_timed_post_send;
		ops->post_recv = null_timed_post_recv;
	}
	fault_wrap_ops(ops);
	steps_wrap_ops(ops);
	trace_wrap_ops(ops);
	td_ops(ctx);
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct sim_context *ctx;

	sim_conf();
	if (fault_call(FAULT_ibv_open_device))
		return NULL;
	ctx = calloc(1, sizeof(*ctx));
	if (!ctx)
		return NULL;
	ctx->index = ibv_get_device_index(device);
	ctx->desc = &conf.desc.dev[ctx->index];
	ctx->v.context.device = device;
	ctx->v.context.cmd_fd = -1;
	ctx->v.context.async_fd = -1;
	ctx->v.context.num_comp_vectors = ctx->desc->nvectors;
	pthread_mutex_init(&ctx->v.context.mutex, NULL);
	set_ops(ctx);
	if (open_fabric(ctx)) {
		free(ctx);
		return NULL;
	}
	return &ctx->v.context;
}

int ibv_close_device(struct ibv_context *c)
{
	struct sim_context *ctx = sim_ctx(c);

	if (fault_call(FAULT_ibv_close_device))
		return -1;
	if (ctx->objects && conf.debug)
		fprintf(stderr, "simverbs: ibv_close_device: %d objects left\n", ctx->objects);
	if (conf.null)
		close(c->async_fd);
	else
		chan_close_async(ctx);
	free(ctx);
	return 0;
}

/* Sharing objects between processes is not simulated. */
struct ibv_context *ibv_import_device(int cmd_fd)
{
	(void)cmd_fd;
	errno = EOPNOTSUPP;
	return NULL;
}

int ibv_fork_init(void)
{
	return 0;
}

enum ibv_fork_status ibv_is_fork_initialized(void)
{
	return IBV_FORK_UNNEEDED;
}
