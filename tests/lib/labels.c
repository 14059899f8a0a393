// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A library to preload: the flow label of each QP's path, and of each address handle, as the
 * program gives it to libibverbs, is appended to the file LABELS_FILE: "QP 17", "AH 17".
 */
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>

static void write_label(const char *what, const struct ibv_ah_attr *a)
{
	const char *name = getenv("LABELS_FILE");
	FILE *f = name ? fopen(name, "a") : NULL;

	if (!f)
		return;
	fprintf(f, "%s %u\n", what, a->grh.flow_label);
	fclose(f);
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	int (*real)(struct ibv_qp *, struct ibv_qp_attr *, int) = dlsym(RTLD_NEXT, "ibv_modify_qp");

	if (mask & IBV_QP_AV)
		write_label("QP", &attr->ah_attr);
	return real(qp, attr, mask);
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct ibv_ah *(*real)(struct ibv_pd *, struct ibv_ah_attr *) =
		dlsym(RTLD_NEXT, "ibv_create_ah");

	write_label("AH", attr);
	return real(pd, attr);
}
