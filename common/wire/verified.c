// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "wire/verified.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "wire/fields.h"
#include "wire/message.h"

static const char *wrong_word(unsigned wrong)
{
	return slots_wrong_name((enum slots_wrong)wrong);
}

/* clang-format off */
#define ROW(member, ...) FIELD(struct slots_tally, member, FIELD_REQUIRED, __VA_ARGS__)
/* The first finding, if there is one. */
#define FIRST(key, member, ...) \
	FIELD_AS(key, struct slots_tally, first.member, FIELD_REQUIRED, .group = "first_error", \
		 FIELD_IF(struct slots_tally, found), __VA_ARGS__)

static const struct field rows[] = {
	ROW(messages),
	ROW(bytes),
	FIRST("class", wrong, .word = wrong_word, .max = SLOTS_CLASSES - 1),
	FIRST("from_server", name.from_server),
	FIRST("qp", name.qp, .max = UINT16_MAX),
	FIRST("window", name.window),
	FIRST("message", name.number, .max = UINT16_MAX),
	FIRST("byte", byte),
	FIRST("is", is),
	FIRST("should_be", should_be),
};
/* clang-format on */

static const struct fields table = FIELDS(rows, NULL);

json_t *verified_to_json(const struct slots_tally *t, bool unreliable)
{
	json_t *to = fields_write(&table, t, json_object());

	json_object_set_new(to, "errors", json_integer((json_int_t)slots_errors(t, unreliable)));
	for (unsigned i = 0; i < SLOTS_CLASSES; i++)
		json_object_set_new(to, wrong_word(i), json_integer((json_int_t)t->wrong[i]));
	return to;
}

int verified_from_json(struct slots_tally *t, const json_t *from, struct fault *f)
{
	memset(t, 0, sizeof(*t));
	t->found = json_object_get(from, "first_error") != NULL;
	if (fields_read(&table, t, from, f))
		return -1;
	/* Limit each count so that sums of them, also over both directions, cannot overflow. */
	for (unsigned i = 0; i < SLOTS_CLASSES; i++)
		if (message_u64(from, wrong_word(i), INT64_MAX / 32, &t->wrong[i], f))
			return -1;
	/* Wrong messages are among those that were checked. */
	return message_has(from, "messages", t->messages || !slots_errors(t, false), f);
}

/* Add the classes with a count above 0: "1 lost, 2 corrupt". */
static void add_classes(const struct slots_tally *t, char *buf, size_t size)
{
	const char *comma = "";

	for (int i = 0; i < SLOTS_CLASSES; i++) {
		if (!t->wrong[i])
			continue;
		text_add(buf, size, "%s%" PRIu64 " %s", comma, t->wrong[i],
			 slots_wrong_name((enum slots_wrong)i));
		comma = ", ";
	}
}

const char *verified_format(const struct slots_tally *t, bool unreliable, char *buf, size_t size)
{
	uint64_t message_bytes = t->messages ? t->bytes / t->messages : 0;
	uint64_t errors = slots_errors(t, unreliable);

	buf[0] = '\0';
	text_add(buf, size, "%" PRIu64 " messages of %s, ", t->messages,
		 units_size(message_bytes).text);
	if (t->bytes < 1000000)
		text_add(buf, size, "%" PRIu64 " B", t->bytes);
	else
		text_add(buf, size, "%.1f MB", (double)t->bytes / 1e6);
	if (errors)
		text_add(buf, size, ", %" PRIu64 " error%s: ", errors, errors > 1 ? "s" : "");
	else
		text_add(buf, size, t->wrong[SLOTS_LOST] ? ", no error, " : ", no error");
	add_classes(t, buf, size);
	return buf;
}

/* For each class of error: the probable cause, and the fix. */
static const struct {
	const char *cause, *fix;
} probable[SLOTS_CLASSES] = {
	[SLOTS_LOST] =
		{"The message was acknowledged, but is not in memory: a NIC or a PCIe bridge "
		 "dropped or delays the write",
		 "check the receiver's NIC for PCIe errors (dmesg, AER), and its firmware"},
	[SLOTS_STALE] =
		{"The data are those of an earlier message: the sender's NIC reads memory that is "
		 "not coherent with the CPU, or the receiver got an old packet",
		 "check the IOMMU and relaxed ordering (--disable_pcie_relaxed) on the sender"},
	[SLOTS_DUPLICATE] =
		{"A retransmitted packet was accepted twice, or was written to the place of "
		 "another one",
		 "check the NICs' firmware, and the port's hw_counters for retransmissions"},
	[SLOTS_REORDERED] =
		{"A QP must deliver messages in order, but did not",
		 "check the NICs' settings for out-of-order delivery and adaptive routing"},
	[SLOTS_MISPLACED] =
		{"The right bytes are in the wrong place: the NIC or the IOMMU translated an "
		 "address wrongly",
		 "check the IOMMU's settings, dmesg for IOMMU faults, and the NICs' firmware"},
	[SLOTS_CORRUPT] =
		{"Bits changed where no network checksum protects them: in memory, on PCIe or in a "
		 "device",
		 "check both hosts for memory and PCIe errors (dmesg, EDAC, AER)"},
};

/* FIRST is a lost message whose data are in memory: say so, where no byte is wrong. Returns -1. */
static int explain_uncompleted(const struct slots_finding *first, struct fault *f)
{
	fault_cause(
		f,
		"The first (%s): message %u from the %s on QP %u, window %u, is in memory, but "
		"its receive request did not complete: the NIC dropped or delays the completion",
		slots_wrong_name(first->wrong), first->name.number,
		first->name.from_server ? "server" : "client", first->name.qp, first->name.window);
	return fault_fix(f, "check the receiver's NIC for faults (dmesg), and its firmware");
}

int verified_raise(const struct slots_tally *t, bool unreliable, struct fault *f)
{
	const struct slots_finding *first = &t->first;
	char classes[128] = "";

	add_classes(t, classes, sizeof(classes));
	fault_raise(f, FAULT_DATA, 0, "%" PRIu64 " of %" PRIu64 " messages of %s wrong: %s",
		    slots_errors(t, unreliable), t->messages,
		    units_size(t->messages ? t->bytes / t->messages : 0).text, classes);
	if (first->wrong == SLOTS_LOST && first->is == first->should_be)
		return explain_uncompleted(first, f);
	fault_cause(
		f,
		"The first (%s): in message %u from the %s on QP %u, window %u, byte %" PRIu64 " "
		"is 0x%02x, not 0x%02x. %s",
		slots_wrong_name(first->wrong), first->name.number,
		first->name.from_server ? "server" : "client", first->name.qp, first->name.window,
		first->byte, first->is, first->should_be, probable[first->wrong].cause);
	return fault_fix(f, "%s", probable[first->wrong].fix);
}
