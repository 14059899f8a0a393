// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "verbs/efa.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#define LIBRARY "libefa.so.1"
#define QUERY   "efadv_query_device"
#define CREATE  "efadv_create_qp_ex"

/* libefa's call NAME; NULL: there is none. */
static void *find(const char *name)
{
	void *symbol = dlsym(RTLD_DEFAULT, name), *library;

	if (symbol)
		return symbol;
	library = dlopen(LIBRARY, RTLD_NOW | RTLD_NODELETE);
	if (!library)
		return NULL;
	symbol = dlsym(library, name);
	dlclose(library); /* it stays loaded */
	return symbol;
}

void efa_query(struct ibv_context *ctx, struct efa_attr *a)
{
	int (*query)(struct ibv_context *ctx, struct efa_attr *a, uint32_t size);
	void *symbol = find(QUERY);

	memset(a, 0, sizeof(*a));
	memcpy(&query, &symbol, sizeof(query));
	if (query && query(ctx, a, sizeof(*a)))
		memset(a, 0, sizeof(*a));
}

int efa_check(const char *device, struct fault *f)
{
	if (find(QUERY) && find(CREATE))
		return 0;
	fault_raise(f, FAULT_UNAVAILABLE, 0, "%s is an EFA, and " LIBRARY " is missing", device);
	fault_cause(f, "Its calls " QUERY " and " CREATE " make the QPs of SRD");
	return fault_fix(f, "install rdma-core's providers (ibverbs-providers, libibverbs)");
}

struct ibv_qp *efa_create_qp(struct ibv_context *ctx, struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp *(*create)(struct ibv_context *ctx, struct ibv_qp_init_attr_ex *attr,
				 struct efa_qp_attr *efa, uint32_t size);
	struct efa_qp_attr srd = {0};
	void *symbol = find(CREATE);

	memcpy(&create, &symbol, sizeof(create));
	errno = ENOSYS;
	return create ? create(ctx, attr, &srd, sizeof(srd)) : NULL;
}
