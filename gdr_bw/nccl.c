// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* NCCL's variables for the client's host, as --check prints them: they choose the way just
 * measured. */
#include "explain/nccl.h"

#include "gdr.h"
#include "host/virt.h"

/*
 * Read the facts again: not only this run's port and GPU matter, but all of the host. Where they
 * cannot be read, there are no variables; without memory F is raised.
 */
static size_t read_variables(struct nccl_variable to[NCCL_VARIABLES], struct fault *f)
{
	struct fault unknown = {0};
	struct hca_list list = {NULL, 0};
	struct nccl_facts facts;
	struct gpus gpus;
	size_t count = 0;

	if (!hca_scan(&list, NULL, &unknown) &&
	    !gpus_read(&gpus, &list, virt_is_machine(), &unknown) &&
	    !nccl_facts_read(&facts, &list, &gpus, &unknown))
		count = nccl_variables(&facts, to);
	hca_list_free(&list);
	fault_for_memory(&unknown, f);
	return count;
}

void gdr_show_nccl(const struct gdr *g, FILE *out)
{
	struct nccl_variable v[NCCL_VARIABLES];
	json_t *array;
	size_t count;

	if (!g->mine.gpu || g->undecided)
		return;
	array = json_array();
	count = read_variables(v, g->run.fault);
	for (size_t i = 0; i < count; i++) {
		if (out)
			fprintf(out, " NCCL on this host needs %s=%s: %s\n", v[i].name, v[i].value,
				v[i].reason);
		json_array_append_new(array, nccl_to_json(&v[i]));
	}
	if (out)
		fflush(out);
	report_own_key(g->run.report, "nccl", array);
}
