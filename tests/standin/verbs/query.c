// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Device, port, GID and P_Key queries. */
#include "fault.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#undef ibv_query_port

static const struct desc_port *port_of(struct ibv_context *c, uint32_t port)
{
	const struct desc_dev *d = sim_ctx(c)->desc;

	if (port < 1 || port > (uint32_t)d->nports)
		return NULL;
	return &d->port[port - 1];
}

int ibv_query_device(struct ibv_context *c, struct ibv_device_attr *a)
{
	const struct desc_dev *d = sim_ctx(c)->desc;
	int err = fault_call(FAULT_ibv_query_device);

	if (err)
		return err;
	*a = (struct ibv_device_attr){
		.node_guid = htobe64(d->guid),
		.sys_image_guid = htobe64(d->image ? d->image : d->guid),
		.max_mr_size = d->max_mr,
		.page_size_cap = ~UINT64_C(0xfff),
		.vendor_id = d->vendor,
		.vendor_part_id = d->part,
		.hw_ver = d->hw,
		.max_qp = d->max_qp,
		.max_qp_wr = d->max_depth,
		.device_cap_flags = IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_PORT_ACTIVE_EVENT |
				    IBV_DEVICE_SYS_IMAGE_GUID | IBV_DEVICE_CURR_QP_STATE_MOD |
				    (d->features & DESC_XRC ? IBV_DEVICE_XRC : 0),
		.max_sge = d->max_sge,
		.max_sge_rd = d->max_sge,
		.max_cq = d->max_cq,
		.max_cqe = d->max_cqe,
		.max_mr = d->max_mrs,
		.max_pd = 65536,
		.max_qp_rd_atom = d->max_rd,
		.max_qp_init_rd_atom = d->max_init_rd,
		.max_res_rd_atom = d->max_rd * d->max_qp,
		.atomic_cap = d->features & DESC_ATOMICS ? IBV_ATOMIC_HCA : IBV_ATOMIC_NONE,
		.max_ah = 65536,
		.max_mcast_grp = d->port[0].ethernet ? SHM_MCASTS : 0,
		.max_mcast_qp_attach = d->port[0].ethernet ? SHM_MCASTS : 0,
		.max_pkeys = 2,
		.max_srq = d->features & DESC_SRQ ? d->max_srq : 0,
		.max_srq_wr = d->features & DESC_SRQ ? d->max_depth : 0,
		.max_srq_sge = d->features & DESC_SRQ ? d->max_sge : 0,
		.local_ca_ack_delay = 16,
		.phys_port_cnt = d->nports,
	};
	snprintf(a->fw_ver, sizeof(a->fw_ver), "%s", d->fw);
	return 0;
}

int sim_query_device_ex(struct ibv_context *c, const struct ibv_query_device_ex_input *input,
			struct ibv_device_attr_ex *attr, size_t size)
{
	struct ibv_device_attr_ex a = {
		.completion_timestamp_mask = UINT64_MAX,
		.hca_core_clock = 1000000, /* kHz: time in ns */
		.phys_port_cnt_ex = sim_ctx(c)->desc->nports,
	};
	const uint32_t all = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_WRITE |
			     IBV_ODP_SUPPORT_READ;
	const struct ibv_odp_caps odp = {IBV_ODP_SUPPORT, {all, 0, IBV_ODP_SUPPORT_SEND}};
	int err = fault_call(FAULT_ibv_query_device_ex);

	if (err)
		return err;
	if (input && input->comp_mask)
		return EINVAL;
	err = ibv_query_device(c, &a.orig_attr);
	if (err)
		return err;
	if (sim_ctx(c)->desc->features & DESC_ODP)
		a.odp_caps = odp;
	a.device_cap_flags_ex = a.orig_attr.device_cap_flags;
	memset(attr, 0, size);
	memcpy(attr, &a, size < sizeof(a) ? size : sizeof(a));
	return 0;
}

int sim_query_rt_values(struct ibv_context *c, struct ibv_values_ex *v)
{
	(void)c;
	if (v->comp_mask & IBV_VALUES_MASK_RAW_CLOCK)
		clock_gettime(CLOCK_MONOTONIC, &v->raw_clock);
	v->comp_mask &= IBV_VALUES_MASK_RAW_CLOCK;
	return 0;
}

static enum ibv_mtu mtu_code(int bytes)
{
	enum ibv_mtu m = IBV_MTU_256;

	while (m < IBV_MTU_4096 && (128 << (m + 1)) <= bytes)
		m++;
	return m;
}

static uint8_t width_code(int lanes)
{
	switch (lanes) {
	case 1:
		return 1;
	case 2:
		return 16;
	case 8:
		return 4;
	case 12:
		return 8;
	default:
		return 2;
	}
}

/* The state now: a fault may have taken the port down. */
static int state_now(struct sim_context *ctx, uint8_t port, int described)
{
	struct shm_seg *seg;

	if (described != IBV_PORT_ACTIVE || sim_conf()->null)
		return described;
	seg = shm_self();
	return seg && atomic_load(&seg->port[ctx->index][port - 1].up) ? IBV_PORT_ACTIVE
								       : IBV_PORT_DOWN;
}

int sim_query_port(struct ibv_context *c, uint8_t port, struct ibv_port_attr *attr, size_t len)
{
	const struct desc_port *p = port_of(c, port);
	struct sim_context *ctx = sim_ctx(c);
	int err = fault_call(FAULT_ibv_query_port);
	/* the structure grew a wide speed after the installed header */
	struct {
		struct ibv_port_attr a;
		uint32_t speed_ex;
	} out = {0};

	if (err)
		return err;
	if (!p)
		return EINVAL;
	out.a = (struct ibv_port_attr){
		.state = state_now(ctx, port, p->state),
		.max_mtu = mtu_code(p->max_mtu),
		.active_mtu = mtu_code(p->mtu),
		.gid_tbl_len = p->ngids,
		.port_cap_flags = IBV_PORT_CM_SUP | (p->ethernet ? IBV_PORT_IP_BASED_GIDS : 0),
		.max_msg_sz = ctx->desc->max_msg > UINT32_MAX ? UINT32_MAX : ctx->desc->max_msg,
		.pkey_tbl_len = p->unspecified ? 1 : 2,
		.lid = p->lid,
		.sm_lid = p->sm_lid,
		.lmc = p->lmc,
		.max_vl_num = 1,
		.sm_sl = p->sl,
		.active_width = width_code(p->width),
		.active_speed = p->speed > 128 ? 128 : p->speed,
		.phys_state = p->phys_state,
		.link_layer = port_link(p),
		.flags = ctx->desc->features & DESC_GRH ? IBV_QPF_GRH_REQUIRED : 0,
	};
	if (out.a.state == IBV_PORT_DOWN && p->state == IBV_PORT_ACTIVE)
		out.a.phys_state = p->ethernet ? 3 : 2;
	out.speed_ex = p->speed;
	memset(attr, 0, len);
	memcpy(attr, &out, len < sizeof(out) ? len : sizeof(out));
	return 0;
}

int ibv_query_port(struct ibv_context *c, uint8_t port, struct _compat_ibv_port_attr *attr)
{
	return sim_query_port(c, port, (struct ibv_port_attr *)attr,
			      offsetof(struct ibv_port_attr, port_cap_flags2));
}

int ibv_query_gid(struct ibv_context *c, uint8_t port, int index, union ibv_gid *gid)
{
	const struct desc_port *p = port_of(c, port);

	if (fault_call(FAULT_ibv_query_gid))
		return -1;
	if (!p || index < 0 || index >= p->ngids) {
		errno = EINVAL;
		return -1;
	}
	memcpy(gid->raw, p->gid[index].raw, 16);
	return 0;
}

/* A private symbol of libibverbs that ibv_devinfo uses: 0 = v1, 1 = v2. */
int ibv_query_gid_type(struct ibv_context *c, uint8_t port, unsigned int index, int *type);
int ibv_query_gid_type(struct ibv_context *c, uint8_t port, unsigned int index, int *type)
{
	const struct desc_port *p = port_of(c, port);

	if (!p || index >= (unsigned int)p->ngids) {
		errno = EINVAL;
		return -1;
	}
	*type = p->ethernet && p->gid[index].version == 2;
	return 0;
}

static void fill_entry(const struct desc_port *p, uint32_t port, uint32_t i,
		       struct ibv_gid_entry *e)
{
	const char *netdev = p->gid[i].netdev[0] ? p->gid[i].netdev : p->netdev;

	memcpy(e->gid.raw, p->gid[i].raw, 16);
	e->gid_index = i;
	e->port_num = port;
	e->gid_type = !p->ethernet             ? IBV_GID_TYPE_IB
		      : p->gid[i].version == 2 ? IBV_GID_TYPE_ROCE_V2
					       : IBV_GID_TYPE_ROCE_V1;
	e->ndev_ifindex = *netdev ? if_nametoindex(netdev) : 0;
}

int _ibv_query_gid_ex(struct ibv_context *c, uint32_t port, uint32_t index,
		      struct ibv_gid_entry *entry, uint32_t flags, size_t size)
{
	const struct desc_port *p = port_of(c, port);
	int err = fault_call(FAULT_ibv_query_gid_ex);

	if (err)
		return err;
	if (flags)
		return EOPNOTSUPP;
	if (!p || index >= (uint32_t)p->ngids || size < sizeof(*entry))
		return EINVAL;
	if (!p->gid[index].version)
		return ENODATA;
	fill_entry(p, port, index, entry);
	return 0;
}

ssize_t _ibv_query_gid_table(struct ibv_context *c, struct ibv_gid_entry *entries, size_t max,
			     uint32_t flags, size_t size)
{
	const struct desc_port *p;
	size_t n = 0;
	uint32_t port;
	int i, err = fault_call(FAULT_ibv_query_gid_table);

	if (err)
		return -err;
	if (flags)
		return -EOPNOTSUPP;
	for (port = 1; (p = port_of(c, port)); port++)
		for (i = 0; i < p->ngids; i++) {
			if (!p->gid[i].version)
				continue;
			if (n == max)
				return -EINVAL;
			fill_entry(p, port, i,
				   (struct ibv_gid_entry *)((char *)entries + n++ * size));
		}
	return n;
}

int ibv_query_pkey(struct ibv_context *c, uint8_t port, int index, __be16 *pkey)
{
	const struct desc_port *p = port_of(c, port);

	if (fault_call(FAULT_ibv_query_pkey))
		return -1;
	if (!p || index < 0 || index > 1) {
		errno = EINVAL;
		return -1;
	}
	*pkey = htobe16(index ? p->pkey1 : p->pkey);
	return 0;
}

int ibv_get_pkey_index(struct ibv_context *c, uint8_t port, __be16 pkey)
{
	const struct desc_port *p = port_of(c, port);

	if (p && pkey == htobe16(p->pkey))
		return 0;
	if (p && pkey == htobe16(p->pkey1))
		return 1;
	errno = EINVAL;
	return -1;
}
