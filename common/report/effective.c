// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The parameters that the run actually used, for the document. */
#include "report/forms.h"

#include "proto/fields.h"

/* They are unknown before both ends are connected. */
#define ROW(member, ...) FIELD(struct report_effective, member, __VA_ARGS__)
#define ONCE_KNOWN(member) ROW(member, FIELD_IF(struct report_effective, mtu_bytes))
static const struct field effective_rows[] = {
	ONCE_KNOWN(mtu_bytes),
	ONCE_KNOWN(tx_depth),
	ONCE_KNOWN(rx_depth),
	ONCE_KNOWN(inline_bytes),
	ONCE_KNOWN(cq_mod),
	ONCE_KNOWN(warmup),
	ROW(outs),
	ROW(connected_by),
	ROW(calls),
};
static const struct fields effective_table = FIELDS(effective_rows, NULL);

json_t *json_effective(const struct report_effective *e)
{
	return fields_write(&effective_table, e, json_object());
}
