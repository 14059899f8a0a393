// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "names.h"

#include <ctype.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>

struct name {
	const char *name;
	int value;
};

#define WC(n)                  \
	{                      \
#n, IBV_WC_##n \
	}

static const struct name statuses[] = {
	WC(SUCCESS),
	WC(LOC_LEN_ERR),
	WC(LOC_QP_OP_ERR),
	WC(LOC_EEC_OP_ERR),
	WC(LOC_PROT_ERR),
	WC(WR_FLUSH_ERR),
	WC(MW_BIND_ERR),
	WC(BAD_RESP_ERR),
	WC(LOC_ACCESS_ERR),
	WC(REM_INV_REQ_ERR),
	WC(REM_ACCESS_ERR),
	WC(REM_OP_ERR),
	WC(RETRY_EXC_ERR),
	WC(RNR_RETRY_EXC_ERR),
	WC(LOC_RDD_VIOL_ERR),
	WC(REM_INV_RD_REQ_ERR),
	WC(REM_ABORT_ERR),
	WC(INV_EECN_ERR),
	WC(INV_EEC_STATE_ERR),
	WC(FATAL_ERR),
	WC(RESP_TIMEOUT_ERR),
	WC(GENERAL_ERR),
	{NULL, 0},
};

int name_errno(const char *name)
{
	const char *have;
	int e;

	if (isdigit((unsigned char)*name))
		return atoi(name);
	for (e = 1; e < 134; e++) {
		have = strerrorname_np(e);
		if (have && !strcmp(name, have))
			return e;
	}
	return !strcmp(name, "EOPNOTSUPP") ? EOPNOTSUPP : -1;
}

int name_status(const char *name)
{
	const struct name *n;

	if (isdigit((unsigned char)*name))
		return atoi(name);
	if (!strncmp(name, "IBV_WC_", 7))
		name += 7;
	for (n = statuses; n->name; n++)
		if (!strcmp(n->name, name))
			return n->value;
	return -1;
}
