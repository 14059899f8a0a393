// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The server: waits for a client, adopts its experiment, follows its rounds. */
#include "session/state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/notify.h"
#include "session/hello.h"
#include "session/parts.h"
#include "session/verify.h"

/* Tell whoever started us that clients can connect. */
static int announce(struct session *s)
{
	int fd = (int)s->options.local.ready_fd;
	char line[16];
	int n;

	report_listening(&s->report, s->door.address);
	notify_send("READY=1");
	if (s->options.local.ready_fd == EXPERIMENT_AUTO)
		return 0;
	n = snprintf(line, sizeof(line), "%u\n", s->door.port);
	if (write(fd, line, (size_t)n) != n) {
		fault_raise(&s->fault, FAULT_USAGE, errno, "write to --ready-fd %d", fd);
		return fault_fix(&s->fault,
				 "open that descriptor for writing, as in `%s --ready-fd 3 3>file`",
				 s->program);
	}
	if (fd > STDERR_FILENO)
		close(fd);
	return 0;
}

/* The client's hello is well-formed and fits: adopt the experiment. Usage faults are final. */
static int adopt(struct session *s, const json_t *m)
{
	struct experiment e;

	fault_phase(&s->fault, "agreeing with the client");
	if (message_is(m, "error")) { /* it found out by itself that it cannot run */
		message_raise(m, &s->fault);
		s->fault.code = FAULT_PEER;
		return -1;
	}
	if (hello_check(s, m, &e, &s->fault) || session_read_timeout(s, m))
		return -1;
	s->options.experiment = e;
	if (s->options.local.max_duration_ns != EXPERIMENT_AUTO)
		oob_limit(&s->oob, s->options.local.max_duration_ns);
	return 0;
}

/* The door's guard asks, in a thread of its own. */
static int vet(const void *session, const json_t *first, struct fault *f)
{
	struct experiment ignored;

	fault_phase(f, "agreeing with the client");
	return hello_check(session, first, &ignored, f);
}

/* The first kind of GID that both ends of rail R have, in the order of the client's OFFER. */
static int agree_on_gid(struct session *s, struct rail *r, const json_t *offer, enum gid_kind *kind)
{
	enum gid_kind mine[GID_KINDS];
	size_t n = rail_kinds(s, r, mine);
	const json_t *theirs = json_object_get(offer, "gid_kinds"), *v;
	size_t i;

	if (fault_is(&s->fault))
		return -1;
	if (json_is_true(json_object_get(offer, "ethernet")) != r->hca.info.is_ethernet) {
		fault_raise(&s->fault, FAULT_USAGE, 0,
			    "the two ends have different link layers: %s on the server's %s",
			    r->mine.link_layer, r->hca.info.device);
		return fault_fix(&s->fault, "choose devices of one fabric with -d on both ends");
	}
	json_array_foreach (theirs, i, v)
		for (size_t k = 0; k < n; k++)
			if (json_is_integer(v) && json_integer_value(v) == (json_int_t)mine[k]) {
				*kind = mine[k];
				return 0;
			}
	*kind = GID_IB;
	if (!r->hca.info.is_ethernet)
		return 0; /* LIDs do */
	fault_raise(&s->fault, FAULT_USAGE, 0,
		    "the two ends have no kind of GID in common: server %s has %s first",
		    r->hca.info.device, n ? gid_kind_name(mine[0]) : "none");
	return fault_fix(
		&s->fault,
		"give both netdevs an address of one family, or choose with -x on both ends");
}

/* From what the client's end of rail R can do to what is done: appended to CHOICES. */
static int choose(struct session *s, struct rail *r, const json_t *offer, json_t *choices)
{
	enum gid_kind kind;
	json_t *choice;
	uint64_t mtu;

	if (message_u64(offer, "mtu_bytes", 4096, &mtu, &s->fault) ||
	    rail_agree_on_pkey(s, r, offer) || agree_on_gid(s, r, offer, &kind))
		return -1;
	r->route.mtu_bytes = mtu < rail_mtu(s, r) ? (unsigned)mtu : rail_mtu(s, r);
	if (!hca_mtu_enum(r->route.mtu_bytes))
		return fault_raise(&s->fault, FAULT_PEER, 0, "the client proposes an MTU of %u",
				   (unsigned)mtu);
	if (rail_use_gid(s, r, kind))
		return -1;
	choice = json_pack("{s:i, s:i}", "gid_kind", (int)kind, "mtu_bytes",
			   (int)r->route.mtu_bytes);
	json_array_append_new(choices, choice);
	return rail_tell_pkey(s, r, choice);
}

/* Rail by rail, as many as the client has. */
static int choose_all(struct session *s, const json_t *hello, json_t *choices)
{
	const json_t *offers = json_object_get(hello, "rails");
	size_t n = json_array_size(offers);

	if (n != s->rails) {
		fault_raise(&s->fault, FAULT_USAGE, 0,
			    "the two ends use different numbers of devices: server %u, client %zu",
			    s->rails, n);
		return fault_fix(&s->fault, "name as many with -d on both ends");
	}
	for (unsigned i = 0; i < s->rails; i++)
		if (choose(s, &s->rail[i], json_array_get(offers, i), choices))
			return -1;
	return 0;
}

static int welcome(struct session *s, const json_t *hello)
{
	json_t *m, *choices;

	fault_phase(&s->fault, "agreeing with the client");
	if (session_read_memory(s, hello))
		return -1;
	choices = json_array();
	if (choose_all(s, hello, choices)) {
		json_decref(choices);
		return -1;
	}
	endpoint_agreed(s);
	m = message_new("welcome");
	json_object_set_new(m, "protocol", json_integer(MESSAGE_PROTOCOL));
	json_object_set_new(m, "version", json_string(RDMARK_VERSION));
	json_object_set_new(m, "rails", choices);
	json_object_set_new(m, "timeout_ns", json_integer((json_int_t)s->options.local.timeout_ns));
	if (s->gpu_memory)
		json_object_set_new(m, "gpu_memory", json_true());
	if (endpoint_cm_listen(s, m)) {
		json_decref(m);
		return -1;
	}
	return oob_send(&s->oob, m, session_deadline(s), &s->fault);
}

static int connect_qps(struct session *s)
{
	json_t *m = NULL;
	int rc;

	if (endpoint_make(s) || endpoint_cm_connect(s, &m)) {
		json_decref(m);
		return -1;
	}
	fault_phase(&s->fault, "exchanging QP details");
	if (!m && message_expect(&s->oob, "qps", &m, s->options.local.timeout_ns, &s->fault))
		return -1;
	rc = endpoint_read_peer(s, m) || endpoint_connect(s) ? -1 : 0;
	json_decref(m);
	if (rc)
		return rc;
	/* Only now: this end is ready for whatever the client sends when it has the answer. */
	return oob_send(&s->oob, endpoint_describe(s), session_deadline(s), &s->fault);
}

/* Wait for a client whose hello can be used; strangers are dropped and waiting goes on. */
static int await_client(struct session *s, json_t **hello)
{
	char line[1024];

	for (;;) {
		struct fault ignored = {0};

		if (door_wait(&s->door, &s->oob, hello, &s->fault))
			return -1;
		if (adopt(s, *hello) == 0)
			break;
		if (!s->fault.from_peer)
			oob_send(&s->oob, message_from_fault(&s->fault), session_deadline(s),
				 &ignored);
		json_decref(*hello);
		*hello = NULL;
		if (s->fault.code != FAULT_PEER || s->fault.from_peer)
			return -1;
		fault_format(&s->fault, line, sizeof(line));
		report_note(&s->report, "dropped %s: %s", s->oob.peer, line);
		fault_clear(&s->fault);
		oob_release(&s->oob);
	}
	oob_local_address(&s->oob, &s->local);
	return door_guard(&s->door, s->oob.peer, &s->fault);
}

/* The client takes its leave. */
static int take_leave(struct session *s, const json_t *theirs)
{
	json_t *bye = message_new("bye");

	counting_stop(s, bye);
	if (oob_send(&s->oob, bye, session_deadline(s), &s->fault))
		return -1;
	return counting_hear(s, theirs) ? -1 : 1;
}

static int one_round(struct session *s, const json_t *request)
{
	struct session_round sr;
	int rc = round_server(s, request, &sr);

	if (rc == 0)
		rc = verify_round(s, &sr);
	if (!sr.way)
		round_show(s, &sr);
	round_release(&sr);
	return fault_is(&s->fault) ? -1 : rc;
}

/* The client's runs of a size are over. */
static int take_repeated(struct session *s, const json_t *m)
{
	if (message_u64_if(m, "until_ppm", REPEAT_PPM, &s->repeat.until_ppm, &s->fault))
		return -1;
	round_repeated(s);
	return fault_is(&s->fault) ? -1 : 0;
}

/* Rounds until the client takes its leave. */
static int follow(struct session *s)
{
	for (;;) {
		json_t *m = NULL;
		int rc;

		fault_phase(&s->fault, "waiting for the client's next round");
		if (oob_recv(&s->oob, &m, session_deadline(s), &s->fault))
			return -1;
		if (message_is(m, "bye"))
			rc = take_leave(s, m);
		else if (message_is(m, "round") && s->stop.signal)
			rc = stop_raise(&s->stop, &s->fault); /* a sweep ends here */
		else if (message_is(m, "round"))
			rc = one_round(s, m);
		else if (message_is(m, "repeated"))
			rc = take_repeated(s, m);
		else if (message_is(m, "task"))
			rc = session_answer_task(s, m);
		else if (message_is(m, "error"))
			rc = message_raise(m, &s->fault);
		else if (message_is(m, "alive"))
			rc = 0;
		else
			rc = fault_raise(&s->fault, FAULT_PEER, 0,
					 "the client sent no round where one was due");
		json_decref(m);
		if (rc)
			return rc < 0 ? -1 : 0;
	}
}

/* CUDA's driver may take long to start: the client hears meanwhile that this end is alive. */
static int open_device(struct session *s)
{
	struct watch w;
	int rc;

	session_alive_start(s, &w);
	rc = endpoint_open(s);
	session_alive_stop(s, &w);
	return rc;
}

/* One client, from its hello to its leave. */
static int serve(struct session *s)
{
	json_t *hello = NULL;
	int rc;

	if (await_client(s, &hello))
		return -1;
	rc = open_device(s) || welcome(s, hello) ? -1 : 0;
	json_decref(hello);
	if (rc || connect_qps(s))
		return -1;
	session_show_ends(s);
	rc = follow(s) || verify_verdict(s) ? -1 : 0;
	round_repeated(s); /* what is left of a client that did not come to the end */
	return rc;
}

/* Whatever became of a client: it and the log are told, and nothing of it is left. */
static void end_client(struct session *s)
{
	struct fault writing = {0};
	char line[1536];

	if (fault_is(&s->fault)) {
		session_tell_peer(s);
		fault_format(&s->fault, line, sizeof(line));
		report_note(&s->report, "%s: %s", s->oob.peer, line);
	}
	counting_stop(s, NULL);
	if (report_next(&s->report, &s->fault, s->interrupted, &writing)) {
		fault_format(&writing, line, sizeof(line));
		report_note(&s->report, "%s", line);
	}
	fault_clear(&s->fault);
	fault_clear(&s->wrong_data);
	oob_release(&s->oob);
	session_linger(s);
	endpoint_release(s);
	door_unguard(&s->door);
	s->interrupted = s->measured = false;
	s->options.experiment = s->asked.experiment;
	repeat_start(&s->repeat, 0);
	s->repeat.until_ppm = 0;
	memset(&s->local, 0, sizeof(s->local));
}

/* Until a signal comes, which is how this ends well. */
static int serve_all(struct session *s)
{
	while (!s->stop.signal) {
		serve(s);
		if (!s->stop.signal)
			end_client(s);
	}
	if (s->fault.code == FAULT_INTERRUPTED && !s->fault.from_peer)
		fault_clear(&s->fault);
	report_note(&s->report, "%s: no more clients are served", stop_signal_name(s->stop.signal));
	return fault_is(&s->fault) ? -1 : 0;
}

int session_server(struct session *s)
{
	struct hca_list list = {NULL, 0};
	int rc;

	s->asked = s->options;
	s->repeat.until_ppm = 0; /* the client says */
	rc = endpoint_look(s, &list);
	hca_list_free(&list);
	if (s->options.local.comm_rdma_cm)
		s->door.carrier = carrier_rdma_cm();
	if (rc || endpoint_gpu_look(s) ||
	    door_open(&s->door, s->options.local.source_ip, (uint16_t)s->options.local.port,
		      &s->stop, &s->fault))
		return -1;
	s->door.patience_ns = s->options.local.timeout_ns;
	s->door.log = s->options.output.quiet ? NULL : stderr;
	s->door.vet = vet;
	s->door.vet_arg = s;
	if (announce(s))
		return -1;
	return s->options.local.persistent ? serve_all(s) : serve(s);
}
