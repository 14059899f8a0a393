// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "loop/round.h"

#include <stdio.h>

#include "base/units.h"
#include "verbs/vfault.h"

int round_completion_failed(const struct round *r, const struct ibv_wc *wc, const char *what)
{
	char work[64], size[32];

	snprintf(work, sizeof(work), "%s of %s", what,
		 units_format_size(r->size_bytes, size, sizeof(size)));
	return vfault_completion(r->fault, wc->status, wc->vendor_err, wc->qp_num, work);
}

int round_verb_failed(const struct round *r, int rc, const char *verb)
{
	return vfault_raise(r->fault, vfault_errno(rc), 0, "%s", verb);
}

void round_look_for_failure(const struct round *r)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(r->qps->send_cq, 1, &wc) == 1) {
		if (wc.status == IBV_WC_SUCCESS || wc.status == IBV_WC_WR_FLUSH_ERR)
			continue;
		round_completion_failed(r, &wc, "request");
		return;
	}
}
