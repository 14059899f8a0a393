// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "wire/verified.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "wire/message.h"

json_t *verified_to_json(const struct slots_tally *t, bool lossy)
{
	const struct slots_finding *f = &t->first;
	json_t *to = json_object(), *first;

	json_object_set_new(to, "messages", json_integer((json_int_t)t->messages));
	json_object_set_new(to, "bytes", json_integer((json_int_t)t->bytes));
	json_object_set_new(to, "errors", json_integer((json_int_t)slots_errors(t, lossy)));
	for (int i = 0; i < SLOTS_CLASSES; i++)
		json_object_set_new(to, slots_wrong_name((enum slots_wrong)i),
				    json_integer((json_int_t)t->wrong[i]));
	if (!t->found)
		return to;
	first = json_pack("{s:s, s:b, s:I, s:I, s:I, s:I, s:I, s:I}", "class",
			  slots_wrong_name(f->wrong), "from_server", (int)f->name.from_server, "qp",
			  (json_int_t)f->name.lane, "window", (json_int_t)f->name.window, "message",
			  (json_int_t)f->name.number, "byte", (json_int_t)f->byte, "is",
			  (json_int_t)f->is, "should_be", (json_int_t)f->should_be);
	json_object_set_new(to, "first_error", first);
	return to;
}

static int read_finding(struct slots_finding *to, const json_t *from, struct fault *f)
{
	const char *wrong = json_string_value(json_object_get(from, "class"));
	uint64_t qp, window, message, is, should_be;
	unsigned i = 0;

	while (wrong && i < SLOTS_CLASSES && strcmp(wrong, slots_wrong_name((enum slots_wrong)i)))
		i++;
	if (message_has(from, "class", wrong && i < SLOTS_CLASSES, f) ||
	    message_flag(from, "from_server", &to->name.from_server, f) ||
	    message_u64(from, "qp", UINT16_MAX, &qp, f) ||
	    message_u64(from, "window", UINT32_MAX, &window, f) ||
	    message_u64(from, "message", UINT16_MAX, &message, f) ||
	    message_u64(from, "byte", INT64_MAX, &to->byte, f) ||
	    message_u64(from, "is", UINT8_MAX, &is, f) ||
	    message_u64(from, "should_be", UINT8_MAX, &should_be, f))
		return -1;
	to->wrong = (enum slots_wrong)i;
	to->name.lane = (unsigned)qp;
	to->name.window = (uint32_t)window;
	to->name.number = (unsigned)message;
	to->is = (uint8_t)is;
	to->should_be = (uint8_t)should_be;
	return 0;
}

int verified_from_json(struct slots_tally *t, const json_t *from, struct fault *f)
{
	const json_t *first = json_object_get(from, "first_error");

	memset(t, 0, sizeof(*t));
	if (message_u64(from, "messages", INT64_MAX, &t->messages, f) ||
	    message_u64(from, "bytes", INT64_MAX, &t->bytes, f))
		return -1;
	/* Sums of them, and the same for messages of 1 byte, must not pass what an integer holds.
	 */
	for (int i = 0; i < SLOTS_CLASSES; i++)
		if (message_u64(from, slots_wrong_name((enum slots_wrong)i), INT64_MAX / 32,
				&t->wrong[i], f))
			return -1;
	/* What is wrong is of messages that were looked at. */
	if (message_has(from, "messages", t->messages || !slots_errors(t, false), f))
		return -1;
	t->found = first != NULL;
	return first ? read_finding(&t->first, first, f) : 0;
}

/* "1 lost, 2 corrupt": those that there are. */
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

const char *verified_format(const struct slots_tally *t, bool lossy, char *buf, size_t size)
{
	uint64_t message_bytes = t->messages ? t->bytes / t->messages : 0;
	uint64_t errors = slots_errors(t, lossy);
	char message[32];

	buf[0] = '\0';
	text_add(buf, size, "%" PRIu64 " messages of %s, ", t->messages,
		 units_format_size(message_bytes, message, sizeof(message)));
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

/* Why such a thing happens, and where to look. */
static const struct {
	const char *cause, *fix;
} why[SLOTS_CLASSES] = {
	[SLOTS_LOST] =
		{"It was acknowledged, but is not in memory: a NIC or a PCIe bridge dropped the write, or holds it back",
		 "look for PCIe errors of the receiver's NIC (dmesg, AER), and at its firmware"},
	[SLOTS_STALE] =
		{"What was sent is what had been sent from there before: the sender's NIC reads memory that is not coherent with the CPU, or the receiver got an old packet",
		 "look at the IOMMU and at relaxed ordering (--disable_pcie_relaxed) on the sender"},
	[SLOTS_DUPLICATE] =
		{"A packet that was sent again was taken twice, or written to another one's place",
		 "look at the NICs' firmware, and for retransmissions in the port's hw_counters"},
	[SLOTS_REORDERED] =
		{"One QP must deliver in order, and did not",
		 "look at the NICs' settings for out-of-order delivery and adaptive routing"},
	[SLOTS_MISPLACED] =
		{"The right bytes are in the wrong place: addresses were translated wrongly, by NIC or IOMMU",
		 "look at the IOMMU's settings and for its faults in dmesg, and at the NICs' firmware"},
	[SLOTS_CORRUPT] =
		{"Bits changed on a way that no checksum of the network covers: memory, PCIe, or a device on it",
		 "look for memory and PCIe errors on both hosts (dmesg, EDAC, AER)"},
};

int verified_raise(const struct slots_tally *t, bool lossy, struct fault *f)
{
	const struct slots_finding *first = &t->first;
	char bytes[32], classes[128] = "";

	add_classes(t, classes, sizeof(classes));
	fault_raise(
		f, FAULT_DATA, 0, "%" PRIu64 " of %" PRIu64 " messages of %s wrong: %s",
		slots_errors(t, lossy), t->messages,
		units_format_size(t->messages ? t->bytes / t->messages : 0, bytes, sizeof(bytes)),
		classes);
	fault_cause(
		f,
		"The first (%s): where message %u from the %s on QP %u, window %u, should be, byte %" PRIu64
		" is 0x%02x, not 0x%02x. %s",
		slots_wrong_name(first->wrong), first->name.number,
		first->name.from_server ? "server" : "client", first->name.lane, first->name.window,
		first->byte, first->is, first->should_be, why[first->wrong].cause);
	return fault_fix(f, "%s", why[first->wrong].fix);
}
