// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Faults that send or bring the data of another message: they are kept, and come again later. */
#include "wire.h"

#include <stdlib.h>
#include <string.h>

void kept_take(struct sim_qp *qp, struct sq_wqe *wqe)
{
	struct kept *k = wqe->keep;
	struct wire_req r = {.qp = qp, .wqe = wqe};
	char *to;
	int i;

	wqe->keep = NULL; /* once */
	k->remote_addr = wqe->remote_addr;
	if (wire_gather(&r, 0)) {
		k->bytes = r.bytes;
		k->data = to = malloc(r.bytes + 1);
		for (i = 0; i < r.nlocal; i++) {
			memcpy(to, r.local[i].iov_base, r.local[i].iov_len);
			to += r.local[i].iov_len;
		}
	}
	wire_release(&r);
}

/* A READ or an atomic is done: what it brought, and what was kept in its place. */
void kept_bring(struct sim_qp *qp, struct sq_wqe *wqe)
{
	const struct kept *k = wqe->use;
	struct wire_req r = {.qp = qp, .wqe = wqe};
	uint64_t at = 0, n;
	int i;

	if (wqe->keep)
		kept_take(qp, wqe);
	if (k && k->data && wire_gather(&r, 0)) {
		for (i = 0; i < r.nlocal && at < k->bytes; i++, at += n) {
			n = r.local[i].iov_len < k->bytes - at ? r.local[i].iov_len : k->bytes - at;
			memcpy(r.local[i].iov_base, k->data + at, n);
		}
	}
	wire_release(&r);
}

/* As many bytes as the message itself has. */
void kept_use(struct wire_req *r)
{
	const struct kept *k = r->wqe->use;

	if (!k->data || !r->nlocal)
		return;
	if (r->bytes > k->bytes)
		r->bytes = k->bytes;
	r->local[0] = (struct iovec){k->data, r->bytes};
	r->nlocal = 1;
}
