// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "proto/message.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/phase.h"
#include "base/units.h"
#include "proto/fields.h"
#include "proto/json_memory.h"
#include "proto/oob.h"
#include "verbs/qp.h"

#define NUMBER_24 0xffffffu
#define ERRNO_MAX 4095

json_t *message_new(const char *type)
{
	return json_pack("{s:s}", "type", type);
}

bool message_is(const json_t *m, const char *type)
{
	return strcmp(json_text_at(m, "type"), type) == 0;
}

static int read_one_field(const json_t *m, const struct field *row, void *to, struct fault *f)
{
	return fields_read(&(struct fields){.row = row, .count = 1}, to, m, f);
}

int message_u64_if(const json_t *m, const char *key, uint64_t max, uint64_t *value, struct fault *f)
{
	const struct field row = {.key = key, .kind = FIELD_UNSIGNED, .size = sizeof(*value)};

	*value = 0;
	return read_one_field(m, &row, value, f) || message_has(m, key, *value <= max, f) ? -1 : 0;
}

int message_u64(const json_t *m, const char *key, uint64_t max, uint64_t *value, struct fault *f)
{
	return json_object_get(m, key) ? message_u64_if(m, key, max, value, f)
				       : message_has(m, key, false, f);
}

int message_flag(const json_t *m, const char *key, bool *value, struct fault *f)
{
	const struct field row = {.key = key, .kind = FIELD_FLAG};

	*value = false;
	return read_one_field(m, &row, value, f);
}

int message_has(const json_t *m, const char *key, bool valid, struct fault *f)
{
	return valid ? 0 : fields_raise(&(struct fields){0}, m, key, f);
}

int message_text(const json_t *m, const char *key, char *buf, size_t size, struct fault *f)
{
	const struct field row = {key, FIELD_TEXT, .size = size, .presence = FIELD_REQUIRED};

	return read_one_field(m, &row, buf, f);
}

int message_numbers(const json_t *m, const char *key, size_t count, uint64_t max, struct fault *f)
{
	const json_t *array = json_object_get(m, key), *v;
	bool valid = json_is_array(array) && json_array_size(array) == count;
	size_t i;

	json_array_foreach (array, i, v)
		valid &= json_is_integer(v) && json_integer_value(v) >= 0 &&
			 (uint64_t)json_integer_value(v) <= max;
	return message_has(m, key, valid, f);
}

/* clang-format off */
#define ROW(key, member, ...) FIELD_AS(key, struct fault, member, FIELD_ALWAYS, __VA_ARGS__)
static const struct field error_rows[] = {
	ROW("call", call),
	ROW("errno", errnum, .max = ERRNO_MAX),
	ROW("text", text),
	ROW("cause", cause),
	ROW("fix", fix),
	ROW("from_peer", from_peer),
	ROW("completion_status", completion, FIELD_IF(struct fault, completion)),
	ROW("vendor_error", vendor_error, FIELD_IF(struct fault, completion)),
};
#undef ROW
/* clang-format on */

static const struct fields error_table = FIELDS(error_rows, NULL);

json_t *message_fault_json(const struct fault *f)
{
	json_t *to =
		json_pack("{s:s, s:i, s:s, s:s}", "code", fault_code_name(f->code), "exit_status",
			  fault_exit_status(f), "stage", stage_word(phase_row(f->phase)->stage),
			  "phase", phase_row(f->phase)->words);
	char text[2048];

	fault_format(f, text, sizeof(text));
	fields_write(&error_table, f, to);
	json_object_set_new(to, "message", json_text(text));
	return to;
}

json_t *message_from_fault(const struct fault *f)
{
	json_t *m = message_fault_json(f);

	json_object_set_new(m, "type", json_string("error"));
	return m;
}

void message_send_fault(struct oob *o, const struct fault *f, uint64_t deadline_ns)
{
	_Alignas(max_align_t) char room[32768];
	struct fault ignored = {0};

	json_memory_failed(); /* no part of this message was missing */
	json_memory_room(room, sizeof(room));
	oob_send(o, message_from_fault(f), deadline_ns, &ignored);
	json_memory_room(NULL, 0);
}

int message_raise(const json_t *m, struct fault *f)
{
	struct fault theirs = {.code = FAULT_PEER};
	const char *code = json_text_at(m, "code");

	if (fault_is(f) || fields_read(&error_table, &theirs, m, f))
		return -1;
	*f = theirs;
	f->phase = phase_from(json_text_at(m, "phase"));
	/* A usage error, an interruption, and what was compared while agreeing, is one of both ends. */
	if (strcmp(code, fault_code_name(FAULT_UNAVAILABLE)) == 0 &&
	    phase_row(f->phase)->stage == STAGE_AGREE)
		f->code = FAULT_UNAVAILABLE;
	if (strcmp(code, fault_code_name(FAULT_USAGE)) == 0)
		f->code = FAULT_USAGE;
	if (strcmp(code, fault_code_name(FAULT_INTERRUPTED)) == 0)
		f->code = FAULT_INTERRUPTED;
	f->from_peer = true;
	return -1;
}

struct message_wait message_wait(uint64_t timeout_ns)
{
	uint64_t now = clock_now_ns();

	return (struct message_wait){.timeout_ns = timeout_ns,
				     .deadline_ns = now + timeout_ns,
				     .alive_until_ns = now + MESSAGE_ALIVE_ONLY_NS};
}

/* The peer is alive, so it gets more time; but not after a signal here, and not for ever. */
static int extend_wait(const struct oob *o, struct message_wait *w, struct fault *f)
{
	uint64_t now = clock_now_ns();

	if (o->stop && o->stop->signal)
		return 0;
	w->deadline_ns = now + w->timeout_ns;
	if (now < w->alive_until_ns)
		return 0;
	return fault_raise(f, FAULT_DEADLINE, ETIMEDOUT, "%s has sent only \"alive\" for %s",
			   o->peer, units_ns(MESSAGE_ALIVE_ONLY_NS).text);
}

int message_next(struct oob *o, struct message_wait *w, json_t **m, struct fault *f)
{
	while (oob_recv(o, m, w->deadline_ns, f) == 0) {
		if (!message_is(*m, "alive"))
			return 0;
		json_decref(*m);
		*m = NULL;
		if (extend_wait(o, w, f))
			return -1;
	}
	return -1;
}

/* The connection is lost: if the peer has said why, raise that instead. */
static void find_reason(struct oob *o, struct fault *f)
{
	struct fault told = {0}, ignored = {0};
	json_t *m;

	while (!fault_is(&told) && oob_poll(o, &m, &ignored) > 0) {
		if (message_is(m, "error"))
			message_raise(m, &told);
		json_decref(m);
	}
	if (told.from_peer)
		*f = told;
}

int message_send(struct oob *o, json_t *m, uint64_t deadline_ns, struct fault *f)
{
	bool failed_before = fault_is(f);

	if (oob_send(o, m, deadline_ns, f) == 0)
		return 0;
	if (!failed_before && f->code == FAULT_PEER)
		find_reason(o, f);
	return -1;
}

int message_expect(struct oob *o, const char *type, json_t **m, uint64_t timeout_ns,
		   struct fault *f)
{
	struct message_wait w = message_wait(timeout_ns);

	for (;;) {
		if (message_next(o, &w, m, f))
			return -1;
		if (message_is(*m, type))
			return 0;
		if (message_is(*m, "error"))
			message_raise(*m, f);
		else if ((o->lost = message_is(*m, "busy")))
			fault_raise(f, FAULT_PEER, 0, "%s has no place for this client now",
				    o->peer);
		else if (!message_is(*m, "finish"))
			fault_raise(f, FAULT_PEER, 0,
				    "the peer sent '%.20s', but '%s' was expected",
				    json_text_at(*m, "type"), type);
		json_decref(*m);
		*m = NULL;
		if (fault_is(f))
			return -1;
	}
}

/* The GID is a text, the numbers of the QPs are arrays. */
static const struct field qp_rows[] = {
	FIELD(struct qp_address, lid, FIELD_REQUIRED),
	FIELD(struct qp_address, addr, FIELD_REQUIRED),
	FIELD(struct qp_address, stride, FIELD_REQUIRED),
	FIELD(struct qp_address, rkey, FIELD_REQUIRED),
};
static const struct fields qp_table = FIELDS(qp_rows, NULL);

/* Set KEY of M to an array of the COUNT numbers FROM; no key if FROM is NULL. */
static void put_numbers(json_t *m, const char *key, const uint32_t *from, unsigned count)
{
	json_t *array = json_array();

	for (unsigned i = 0; from && i < count; i++)
		json_array_append_new(array, json_integer(from[i]));
	json_add_parts(m, key, array, 1);
}

json_t *message_from_qps(const struct qp_address *a)
{
	json_t *m = fields_write(&qp_table, a, message_new("qps"));
	char gid[33];

	for (int i = 0; i < 16; i++)
		snprintf(gid + 2 * i, 3, "%02x", a->gid.raw[i]);
	json_object_set_new(m, "gid", json_string(gid));
	put_numbers(m, "qpn", a->qpn, a->count);
	put_numbers(m, "psn", a->psn, a->count);
	put_numbers(m, "rkeys", a->rkeys, a->count);
	put_numbers(m, "senders", a->sender, a->count);
	put_numbers(m, "srqns", a->srqn, a->count);
	return m;
}

static int read_gid(const json_t *m, union ibv_gid *gid, struct fault *f)
{
	char hex[40];

	if (message_text(m, "gid", hex, sizeof(hex), f))
		return -1;
	if (strlen(hex) != 32 || strspn(hex, "0123456789abcdef") != 32)
		return message_has(m, "gid", false, f);
	for (int i = 0; i < 16; i++) {
		unsigned byte = 0;

		sscanf(hex + 2 * i, "%2x", &byte);
		gid->raw[i] = (uint8_t)byte;
	}
	return 0;
}

int message_read_qps(const json_t *m, unsigned count, struct qp_address *a, struct fault *f)
{
	const struct {
		const char *key;
		uint32_t **to;
		uint64_t max;
		bool optional;
	} all[] = {
		{"qpn", &a->qpn, NUMBER_24},
		{"psn", &a->psn, NUMBER_24},
		{"rkeys", &a->rkeys, UINT32_MAX, true},
		{"senders", &a->sender, NUMBER_24, true},
		{"srqns", &a->srqn, NUMBER_24, true},
	};
	const json_t *v;
	size_t i;

	*a = (struct qp_address){.count = count};
	if (fields_read(&qp_table, a, m, f) || read_gid(m, &a->gid, f))
		return -1;
	for (unsigned k = 0; k < sizeof(all) / sizeof(all[0]); k++) {
		if (all[k].optional && !json_object_get(m, all[k].key))
			continue;
		if (message_numbers(m, all[k].key, count, all[k].max, f))
			return -1;
		*all[k].to = calloc(count, sizeof(**all[k].to));
		if (!*all[k].to)
			return fault_raise(f, FAULT_LOCAL, ENOMEM, "allocating details of %u QPs",
					   count);
		json_array_foreach (json_object_get(m, all[k].key), i, v)
			(*all[k].to)[i] = (uint32_t)json_integer_value(v);
	}
	return 0;
}
