// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "wire/message.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "wire/json_text.h"

#define NUMBER_24 0xffffffu

json_t *message_new(const char *type)
{
	return json_pack("{s:s}", "type", type);
}

static const char *type_of(const json_t *m)
{
	const char *type = json_string_value(json_object_get(m, "type"));

	return type ? type : "";
}

bool message_is(const json_t *m, const char *type)
{
	return strcmp(type_of(m), type) == 0;
}

static int impossible(const json_t *m, const char *key, struct fault *f)
{
	fault_raise(f, FAULT_PEER, 0, "the peer's message '%.20s' has no valid '%s'", type_of(m),
		    key);
	return fault_fix(f, "use the same version of rdmark on both ends");
}

int message_u64(const json_t *m, const char *key, uint64_t max, uint64_t *value, struct fault *f)
{
	const json_t *v = json_object_get(m, key);

	if (!json_is_integer(v) || json_integer_value(v) < 0 ||
	    (uint64_t)json_integer_value(v) > max)
		return impossible(m, key, f);
	*value = (uint64_t)json_integer_value(v);
	return 0;
}

int message_u64_if(const json_t *m, const char *key, uint64_t max, uint64_t *value, struct fault *f)
{
	*value = 0;
	return json_object_get(m, key) ? message_u64(m, key, max, value, f) : 0;
}

int message_flag(const json_t *m, const char *key, bool *value, struct fault *f)
{
	const json_t *v = json_object_get(m, key);

	*value = json_is_true(v);
	return message_has(m, key, !v || json_is_boolean(v), f);
}

int message_has(const json_t *m, const char *key, bool valid, struct fault *f)
{
	return valid ? 0 : impossible(m, key, f);
}

int message_text(const json_t *m, const char *key, char *buf, size_t size, struct fault *f)
{
	const char *v = json_string_value(json_object_get(m, key));

	if (!v)
		return impossible(m, key, f);
	text_copy(buf, size, v);
	return 0;
}

json_t *message_fault_json(const struct fault *f)
{
	char text[2048];

	fault_format(f, text, sizeof(text));
	return json_pack("{s:s, s:i, s:o, s:o, s:i, s:o, s:o, s:o, s:b, s:o}", "code",
			 fault_code_name(f->code), "exit_status", fault_exit_status(f), "phase",
			 json_text(f->phase), "call", json_text(f->call), "errno", f->errnum,
			 "text", json_text(f->text), "cause", json_text(f->cause), "fix",
			 json_text(f->fix), "from_peer", (int)f->from_peer, "message",
			 json_text(text));
}

json_t *message_from_fault(const struct fault *f)
{
	json_t *m = message_fault_json(f);

	if (m)
		json_object_set_new(m, "type", json_string("error"));
	return m;
}

/* The text KEY of M if it is one; texts of an error are all optional. */
static void copy(const json_t *m, const char *key, char *buf, size_t size)
{
	struct fault ignored = {0};

	buf[0] = '\0';
	if (json_is_string(json_object_get(m, key)))
		message_text(m, key, buf, size, &ignored);
}

int message_raise(const json_t *m, struct fault *f)
{
	char code[32];
	uint64_t errnum = 0;

	if (fault_is(f))
		return -1;
	copy(m, "code", code, sizeof(code));
	/* Both ends disagree: both exit with 2. What else the peer has is its own: 3. */
	fault_raise(f,
		    strcmp(code, "usage") == 0         ? FAULT_USAGE
		    : strcmp(code, "interrupted") == 0 ? FAULT_INTERRUPTED
						       : FAULT_PEER,
		    0, "%s", "");
	f->from_peer = true;
	copy(m, "phase", f->phase, sizeof(f->phase));
	copy(m, "call", f->call, sizeof(f->call));
	copy(m, "text", f->text, sizeof(f->text));
	copy(m, "cause", f->cause, sizeof(f->cause));
	copy(m, "fix", f->fix, sizeof(f->fix));
	if (json_is_integer(json_object_get(m, "errno")) &&
	    json_integer_value(json_object_get(m, "errno")) > 0)
		errnum = (uint64_t)json_integer_value(json_object_get(m, "errno"));
	f->errnum = errnum < 4096 ? (int)errnum : 0;
	return -1;
}

int message_expect(struct oob *o, const char *type, json_t **m, uint64_t timeout_ns,
		   struct fault *f)
{
	for (;;) {
		if (oob_recv(o, m, clock_now_ns() + timeout_ns, f))
			return -1;
		if (message_is(*m, type))
			return 0;
		if (message_is(*m, "error"))
			message_raise(*m, f);
		else if (!message_is(*m, "alive") && !message_is(*m, "finish"))
			fault_raise(f, FAULT_PEER, 0, "the peer sent '%.20s' where '%s' was due",
				    type_of(*m), type);
		json_decref(*m);
		*m = NULL;
		if (fault_is(f))
			return -1;
	}
}

/* An array of the numbers that KEY of M stands for, or nothing if there are none. */
static void put_numbers(json_t *m, const char *key, const uint32_t *from, unsigned count)
{
	json_t *array;

	if (!from)
		return;
	array = json_array();
	for (unsigned i = 0; i < count; i++)
		json_array_append_new(array, json_integer(from[i]));
	json_object_set_new(m, key, array);
}

json_t *message_from_qps(const struct qp_address *a)
{
	json_t *m = message_new("qps");
	char gid[33];

	for (int i = 0; i < 16; i++)
		snprintf(gid + 2 * i, 3, "%02x", a->gid.raw[i]);
	json_object_set_new(m, "lid", json_integer(a->lid));
	json_object_set_new(m, "gid", json_string(gid));
	json_object_set_new(m, "addr", json_integer((json_int_t)a->addr));
	json_object_set_new(m, "stride", json_integer((json_int_t)a->stride));
	json_object_set_new(m, "rkey", json_integer(a->rkey));
	put_numbers(m, "qpn", a->qpn, a->count);
	put_numbers(m, "psn", a->psn, a->count);
	put_numbers(m, "rkeys", a->rkeys, a->count);
	return m;
}

static int read_gid(const json_t *m, union ibv_gid *gid, struct fault *f)
{
	char hex[40];

	if (message_text(m, "gid", hex, sizeof(hex), f))
		return -1;
	if (strlen(hex) != 32 || strspn(hex, "0123456789abcdef") != 32)
		return impossible(m, "gid", f);
	for (int i = 0; i < 16; i++) {
		unsigned byte = 0;

		sscanf(hex + 2 * i, "%2x", &byte);
		gid->raw[i] = (uint8_t)byte;
	}
	return 0;
}

struct numbers {
	uint32_t *to;
	unsigned count;
};

/* As many numbers up to MAX. */
static int read_numbers(const json_t *m, const char *key, unsigned max, struct numbers to,
			struct fault *f)
{
	const json_t *array = json_object_get(m, key);

	if (!json_is_array(array) || json_array_size(array) != to.count)
		return impossible(m, key, f);
	for (unsigned i = 0; i < to.count; i++) {
		const json_t *v = json_array_get(array, i);

		if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) > max)
			return impossible(m, key, f);
		to.to[i] = (uint32_t)json_integer_value(v);
	}
	return 0;
}

/* The peer has an MR for each QP, or one for all. */
static int read_rkeys(const json_t *m, struct qp_address *a, struct fault *f)
{
	if (!json_object_get(m, "rkeys"))
		return 0;
	a->rkeys = calloc(a->count, sizeof(*a->rkeys));
	if (!a->rkeys)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "keys of %u QPs", a->count);
	return read_numbers(m, "rkeys", UINT32_MAX, (struct numbers){a->rkeys, a->count}, f);
}

int message_read_qps(const json_t *m, unsigned count, struct qp_address *a, struct fault *f)
{
	uint64_t lid, rkey;

	if (qp_address_init(a, count))
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "details of %u QPs", count);
	if (message_u64(m, "lid", UINT16_MAX, &lid, f) || read_gid(m, &a->gid, f) ||
	    message_u64(m, "addr", INT64_MAX, &a->addr, f) ||
	    message_u64(m, "stride", INT64_MAX, &a->stride, f) ||
	    message_u64(m, "rkey", UINT32_MAX, &rkey, f) ||
	    read_numbers(m, "qpn", NUMBER_24, (struct numbers){a->qpn, count}, f) ||
	    read_numbers(m, "psn", NUMBER_24, (struct numbers){a->psn, count}, f) ||
	    read_rkeys(m, a, f))
		return -1;
	a->lid = (uint16_t)lid;
	a->rkey = (uint32_t)rkey;
	return 0;
}
