// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The parser of the out-of-band exchange: any bytes, cut anywhere, and whatever message comes out
 * of them given to every reader. Input: a byte that says how the stream is cut, then a script.
 */
#include <ctype.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/rate.h"
#include "plan/test.h"
#include "proto/oob.h"
#include "script.h"
#include "cli/options.h"
#include "proto/end.h"
#include "proto/message.h"
#include "proto/record.h"
#include "verbs/qp.h"

#define COUNT_MAX 8

static void check_clean(const char *text, size_t size)
{
	size_t n = strnlen(text, size);

	FUZZ_CHECK(n < size);
	for (size_t i = 0; i < n; i++)
		FUZZ_CHECK(!iscntrl((unsigned char)text[i]));
}

static void check_fault(struct fault *f)
{
	char line[2048];
	json_t *m;

	FUZZ_CHECK(fault_is(f));
	fault_format(f, line, sizeof(line));
	check_clean(line, sizeof(line));
	m = message_from_fault(f);
	FUZZ_CHECK(m); /* else the peer is never told */
	json_decref(m);
	memset(f, 0, sizeof(*f));
}

static void read_qps(const json_t *m)
{
	struct qp_address a;
	struct fault f = {0};
	unsigned count = (unsigned)json_array_size(json_object_get(m, "qpn"));

	if (!count || count > COUNT_MAX)
		count = 1;
	if (message_read_qps(m, count, &a, &f)) {
		check_fault(&f);
	} else {
		json_t *again = message_from_qps(&a);
		struct qp_address b;

		FUZZ_CHECK(message_read_qps(again, count, &b, &f) == 0);
		FUZZ_CHECK(a.addr == b.addr && a.stride == b.stride && a.rkey == b.rkey);
		FUZZ_CHECK(a.lid == b.lid && !memcmp(&a.gid, &b.gid, sizeof(a.gid)));
		FUZZ_CHECK(!memcmp(a.qpn, b.qpn, count * sizeof(*a.qpn)));
		qp_address_release(&b);
		json_decref(again);
	}
	qp_address_release(&a);
}

static void read_end(const json_t *from)
{
	struct end e, b;
	struct fault f = {0};
	json_t *again;

	if (end_from_json(&e, from, &f)) {
		check_fault(&f);
		return;
	}
	check_clean(e.host, sizeof(e.host));
	check_clean(e.pinned, sizeof(e.pinned));
	check_clean(e.version, sizeof(e.version));
	again = end_to_json(&e);
	FUZZ_CHECK(end_from_json(&b, again, &f) == 0);
	/* what came can be passed on */
	FUZZ_CHECK(!memcmp(&e, &b, offsetof(struct end, port)));
	FUZZ_CHECK(!strcmp(e.firmware, b.firmware) && !strcmp(e.version, b.version));
	check_clean(e.cpu_model, sizeof(e.cpu_model));
	FUZZ_CHECK(e.argv.bytes <= sizeof(e.argv.text) && e.argv.bytes == b.argv.bytes);
	FUZZ_CHECK(!memcmp(e.argv.text, b.argv.text, e.argv.bytes));
	json_decref(again);
}

static void read_record(const json_t *from)
{
	struct record r, b;
	struct fault f = {0};
	json_t *again;

	if (record_from_json(&r, from, &f)) {
		check_fault(&f);
		return;
	}
	again = record_to_json(&r);
	FUZZ_CHECK(record_from_json(&b, again, &f) == 0);
	FUZZ_CHECK(r.messages == b.messages && r.bandwidth_gbps == b.bandwidth_gbps);
	json_decref(again);
}

static void read_experiment(const json_t *from)
{
	struct options o;
	struct fault f = {0};

	options_init(&o, &(struct experiment){EXPERIMENT_DEFAULTS, .size_bytes = 2, .iters = 1000,
					      .tx_depth = 1, .windows = 7});
	if (experiment_from_json(&o.experiment, from, 0, &f)) {
		check_fault(&f);
		return;
	}
	for (const struct option_row *row = options_table(); row->name; row++) {
		uint64_t v;

		if (row->scope != SCOPE_EXPERIMENT)
			continue;
		v = *options_number(&o, row);
		FUZZ_CHECK(v == EXPERIMENT_AUTO || options_in_range(row, v) ||
			   (v == 0 && !strcmp(row->name, "duration")));
	}
}

static void read_all(const json_t *m)
{
	struct fault f = {0};
	char text[32];
	uint64_t v = 0;

	FUZZ_CHECK(json_is_object(m));
	read_qps(m);
	read_end(m);
	read_end(json_object_get(m, "end"));
	read_record(m);
	read_record(json_object_get(m, "record"));
	read_experiment(m);
	read_experiment(json_object_get(m, "experiment"));
	if (message_u64(m, "messages", INT64_MAX, &v, &f))
		check_fault(&f);
	FUZZ_CHECK(v <= INT64_MAX);
	if (message_text(m, "version", text, sizeof(text), &f))
		check_fault(&f);
	else
		check_clean(text, sizeof(text));
	message_raise(m, &f);
	check_fault(&f);
}

/* All that has come; false when the connection is found bad. */
static bool take(struct oob *o)
{
	struct fault f = {0};
	json_t *m = NULL;
	int rc;

	while ((rc = oob_poll(o, &m, &f)) > 0) {
		read_all(m);
		json_decref(m);
	}
	FUZZ_CHECK(o->have <= o->size && o->size <= 8 + o->bounds.bytes);
	FUZZ_CHECK((rc < 0) == fault_is(&f));
	if (rc < 0)
		check_fault(&f);
	return rc == 0;
}

/* Send BYTES in pieces of at most PIECE; false when the reader has given up. */
static bool give(struct oob *o, int fd, const char *bytes, size_t size, size_t piece)
{
	while (size) {
		size_t n = size < piece ? size : piece;

		FUZZ_CHECK(send(fd, bytes, n, MSG_NOSIGNAL) == (ssize_t)n);
		bytes += n;
		size -= n;
		if (!take(o))
			return false;
	}
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	size_t piece = 1 + fuzz_u8(&in) % 128;
	struct script_step step;
	struct oob o;
	bool fine = true;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair))
		abort();
	oob_adopt(&o, NULL, pair[0]);
	snprintf(o.peer, sizeof(o.peer), "192.0.2.1:18515"); /* a socketpair has no address */
	if (piece > 100)
		piece = 65536;
	while (fine && script_next(&in, &step)) {
		if (step.kind == SCRIPT_SEND)
			fine = give(&o, pair[1], step.bytes, step.size, piece);
		script_release(&step);
	}
	close(pair[1]);
	if (fine)
		FUZZ_CHECK(!take(&o)); /* the end of the stream */
	oob_release(&o);
	return 0;
}
