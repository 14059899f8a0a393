// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Address handles, and whether an address reaches a port. */
#include "fault.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int ah_check(struct ibv_context *c, const struct ibv_ah_attr *a)
{
	static const uint8_t zero[16];
	const struct desc_dev *d = sim_ctx(c)->desc;
	const struct desc_port *p;

	if (a->port_num < 1 || a->port_num > d->nports)
		return EINVAL;
	p = &d->port[a->port_num - 1];
	if (p->unspecified) /* only dgid is read; one that is no address reaches nobody */
		return 0;
	if (!a->is_global)
		return p->ethernet || (d->features & DESC_GRH) ? EINVAL : 0;
	if (a->grh.sgid_index >= p->ngids || !p->gid[a->grh.sgid_index].version ||
	    !memcmp(a->grh.dgid.raw, zero, 16))
		return EINVAL;
	return 0;
}

static bool lid_reaches(const struct ibv_ah_attr *ah, const struct shm_port *to)
{
	return to->lid && ah->dlid >= to->lid && ah->dlid < to->lid + (1u << to->lmc);
}

bool ah_reaches(const struct ibv_ah_attr *ah, const struct shm_port *from,
		const struct shm_port *to)
{
	bool ib = to->link == IBV_LINK_LAYER_INFINIBAND;
	uint32_t i, type;

	if (from->link != to->link || (ib && !lid_reaches(ah, to)))
		return false;
	if (!ah->is_global)
		return ib;
	/* a RoCE v1 frame is nothing to a port that has the GID as v2 only */
	type = from->gid[ah->grh.sgid_index].type;
	for (i = 0; i < to->ngids; i++)
		if (to->gid[i].type == type && !memcmp(to->gid[i].raw, ah->grh.dgid.raw, 16))
			return true;
	return false;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct sim_ah *ah;

	if (fault_call(FAULT_ibv_create_ah))
		return NULL;
	errno = ah_check(pd->context, attr);
	if (errno)
		return NULL;
	ah = calloc(1, sizeof(*ah));
	if (!ah)
		return NULL;
	ah->ibv.context = pd->context;
	ah->ibv.pd = pd;
	ah->attr = *attr;
	srd_ah_known(ah, true);
	atomic_fetch_add(&((struct sim_pd *)pd)->users, 1);
	return &ah->ibv;
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
	int err = fault_call(FAULT_ibv_destroy_ah);

	if (err)
		return err;
	srd_ah_known((struct sim_ah *)ah, false);
	atomic_fetch_sub(&((struct sim_pd *)ah->pd)->users, 1);
	free(ah);
	return 0;
}

/* The GIDs and RoCE version of a received packet's 40 bytes. */
static int grh_gids(const struct ibv_grh *grh, uint8_t *sgid, uint8_t *dgid)
{
	const uint8_t *b = (const uint8_t *)grh;

	if (b[0] >> 4 == 6) {
		memcpy(sgid, grh->sgid.raw, 16);
		memcpy(dgid, grh->dgid.raw, 16);
		return grh->next_hdr == 17 ? 2 : 1;
	}
	/* RoCE v2 over IPv4: the header is in the last 20 bytes */
	memset(sgid, 0, 16);
	memset(dgid, 0, 16);
	sgid[10] = sgid[11] = dgid[10] = dgid[11] = 0xff;
	memcpy(sgid + 12, b + 32, 4);
	memcpy(dgid + 12, b + 36, 4);
	return 2;
}

int ibv_init_ah_from_wc(struct ibv_context *c, uint8_t port, struct ibv_wc *wc, struct ibv_grh *grh,
			struct ibv_ah_attr *attr)
{
	const struct desc_port *p = &sim_ctx(c)->desc->port[port - 1];
	uint8_t sgid[16], dgid[16];
	int i, version;

	memset(attr, 0, sizeof(*attr));
	attr->dlid = wc->slid;
	attr->sl = wc->sl;
	attr->src_path_bits = wc->dlid_path_bits;
	attr->port_num = port;
	if (!(wc->wc_flags & IBV_WC_GRH))
		return 0;
	attr->is_global = 1;
	attr->grh.hop_limit = 64;
	version = grh_gids(grh, sgid, dgid);
	memcpy(attr->grh.dgid.raw, sgid, 16);
	for (i = 0; i < p->ngids; i++)
		if (p->gid[i].version == version && !memcmp(p->gid[i].raw, dgid, 16)) {
			attr->grh.sgid_index = i;
			return 0;
		}
	errno = ENOENT;
	return -1;
}

struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh,
				     uint8_t port)
{
	struct ibv_ah_attr attr;

	if (ibv_init_ah_from_wc(pd->context, port, wc, grh, &attr))
		return NULL;
	return ibv_create_ah(pd, &attr);
}

int ibv_resolve_eth_l2_from_gid(struct ibv_context *c, struct ibv_ah_attr *attr,
				uint8_t mac[ETHERNET_LL_SIZE], uint16_t *vid)
{
	(void)c;
	memcpy(mac, attr->grh.dgid.raw + 10, ETHERNET_LL_SIZE);
	*vid = 0xffff;
	return 0;
}
