// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Domains of extended reliable connections: SRQs that every QP of the domain may receive into. */
#include "fault.h"

#include <errno.h>
#include <stdlib.h>

struct ibv_xrcd *sim_open_xrcd(struct ibv_context *c, struct ibv_xrcd_init_attr *attr)
{
	static _Atomic uint32_t last;
	struct sim_xrcd *x;

	if (fault_call(FAULT_ibv_open_xrcd))
		return NULL;
	errno = EOPNOTSUPP;
	if (!(sim_ctx(c)->desc->features & DESC_XRC))
		return NULL;
	(void)attr; /* a file shares it with other processes, which is not simulated: each has its
		       own */
	x = calloc(1, sizeof(*x));
	if (!x)
		return NULL;
	x->ibv.context = c;
	x->id = atomic_fetch_add(&last, 1) + 1;
	atomic_fetch_add(&sim_ctx(c)->objects, 1);
	return &x->ibv;
}

int sim_close_xrcd(struct ibv_xrcd *ibv)
{
	struct sim_xrcd *x = (struct sim_xrcd *)ibv;

	if (atomic_load(&x->users))
		return EBUSY;
	atomic_fetch_sub(&sim_ctx(ibv->context)->objects, 1);
	free(x);
	return 0;
}

void xrc_count(const struct sim_qp *qp, int by)
{
	if (qp->xrcd)
		atomic_fetch_add(&qp->xrcd->users, by);
}
