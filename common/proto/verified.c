// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "proto/verified.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "proto/fields.h"
#include "proto/message.h"

#define COUNT_MAX (INT64_MAX / 32) /* sums, also over both directions, cannot overflow */

/* clang-format off */
#define ROW(member, ...) FIELD(struct verified, member, FIELD_REQUIRED, __VA_ARGS__)
/* The first finding, if there is one. */
#define FIRST(key, member, ...) \
	FIELD_AS(key, struct verified, first.member, FIELD_REQUIRED, .group = "first_error", \
		 FIELD_IF(struct verified, found), __VA_ARGS__)

static const struct field rows[] = {
	ROW(messages),
	ROW(bytes),
	ROW(errors, .max = COUNT_MAX),
	ROW(lost, .max = COUNT_MAX),
	FIRST("from_server", from_server),
	FIRST("qp", qp, .max = UINT16_MAX),
	FIRST("window", window),
	FIRST("message", number, .max = UINT16_MAX),
	FIRST("byte", byte),
	FIRST("is", is),
	FIRST("should_be", should_be),
};
/* clang-format on */

static const struct fields table = FIELDS(rows, NULL);

void verified_add(struct verified *to, const struct verified *from)
{
	to->messages += from->messages;
	to->bytes += from->bytes;
	to->errors += from->errors;
	to->lost += from->lost;
	if (!to->found)
		to->first = from->first;
	to->found = to->found || from->found;
}

json_t *verified_to_json(const struct verified *t)
{
	return fields_write(&table, t, json_object());
}

int verified_from_json(struct verified *t, const json_t *from, struct fault *f)
{
	memset(t, 0, sizeof(*t));
	t->found = json_object_get(from, "first_error") != NULL;
	if (fields_read(&table, t, from, f))
		return -1;
	/* Wrong messages are among those that were checked. */
	if (message_has(from, "messages", t->messages || (!t->errors && !t->lost), f))
		return -1;
	return message_has(from, "first_error", t->found == (t->errors != 0), f);
}

const char *verified_format(const struct verified *t, uint64_t measured_bytes, char *buf,
			    size_t size)
{
	snprintf(buf, size, "%" PRIu64 " messages of %s, %s (measured: %s), ", t->messages,
		 units_size(t->messages ? t->bytes / t->messages : 0).text,
		 units_size(t->bytes).text, units_size(measured_bytes).text);
	if (t->errors)
		text_add(buf, size, "%" PRIu64 " error%s", t->errors, t->errors > 1 ? "s" : "");
	else
		text_add(buf, size, "no error");
	if (t->lost)
		text_add(buf, size, " (%" PRIu64 " lost)", t->lost);
	return buf;
}

int verified_raise(const struct verified *t, struct fault *f)
{
	const struct verified_finding *first = &t->first;
	char message[96];

	snprintf(message, sizeof(message), "message %u from the %s on QP %u, window %u,",
		 first->number, first->from_server ? "server" : "client", first->qp,
		 first->window);
	fault_raise(f, FAULT_DATA, 0,
		    "%" PRIu64 " of %" PRIu64 " messages of %s wrong (%" PRIu64 " lost)", t->errors,
		    t->messages, units_size(t->messages ? t->bytes / t->messages : 0).text,
		    t->lost);
	if (first->is == first->should_be)
		fault_cause(f,
			    "The first: %s is in memory, but its receive request did not complete: "
			    "the NIC dropped or delays the completion",
			    message);
	else
		fault_cause(f,
			    "The first: where %s is expected, byte %" PRIu64
			    " is 0x%02x, not 0x%02x. No network checksum found this: memory, PCIe, "
			    "an IOMMU or a NIC may have changed, misplaced or dropped the data",
			    message, first->byte, first->is, first->should_be);
	return fault_fix(f,
			 "check both hosts for memory, PCIe and IOMMU errors (dmesg, EDAC, AER), "
			 "and the NICs' firmware");
}
