// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "measure/loopback.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/process.h"
#include "base/text.h"
#include "proto/fields.h"
#include "proto/json_memory.h"

#define WINDOW    "0.2" /* seconds */
#define SERVER_NS UINT64_C(20000000000)
#define WORDS     24

/* Start an end with the options MORE. */
static int start_end(struct process *p, const struct loopback *l, const char *more, struct fault *f)
{
	char text[256], *argv[WORDS], *rest = text;
	struct process_attr attr = {.argv = argv, .heard = true, .hushed = true, .orphan = SIGTERM};
	size_t n = 0;

	snprintf(text, sizeof(text), "write_bw --quiet -s 65536 -d %s -i %u %s%s%s", l->device,
		 l->port, l->memory, *l->memory ? " " : "", more);
	while (n < WORDS - 1 && (argv[n] = strsep(&rest, " ")))
		n++;
	argv[n] = NULL;
	return process_start(p, &attr, f);
}

/* Wait until the server P has said its TCP port. Returns 0, or -1: it ended before. */
static int await_port(struct process *p, struct stop *stop, struct fault *f, char port[8])
{
	uint64_t deadline_ns = clock_now_ns() + SERVER_NS;
	bool more = true;

	while (more && !(p->said && strchr(p->said, '\n'))) {
		if (stop_wait(stop, p->out, POLLIN, deadline_ns, f) <= 0)
			return -1;
		more = process_hear(p);
	}
	if (!p->said || !strchr(p->said, '\n'))
		return -1;
	snprintf(port, 8, "%.*s", (int)strcspn(p->said, "\n"), p->said);
	return 0;
}

/* Read the window in DOCUMENT, unless something disturbed it. */
static void read_window(struct loopback *l, const json_t *document)
{
	const json_t *row = json_array_get(json_object_get(document, "results"), 0);
	const json_t *quality = json_object_get(row, "quality");
	double gbps = json_number_value(json_object_get(row, "bandwidth_gbps"));

	if (gbps > 0 && json_is_true(json_object_get(quality, "disturbed")))
		text_copy(l->failed, sizeof(l->failed), json_text_at(quality, "text"));
	else if (gbps > 0)
		l->gbps = gbps;
}

int loopback_run(struct loopback *l, struct stop *stop, struct fault *f)
{
	struct process server = {0}, client = {0};
	json_t *document = NULL;
	char port[8], measure[64];

	if (start_end(&server, l, "--ready-fd=1 -p 0 --bind_source_ip=127.0.0.1 --wait=10", f))
		return -1;
	if (await_port(&server, stop, f, port)) {
		process_last_error(&server, l->failed, sizeof(l->failed));
	} else {
		snprintf(measure, sizeof(measure), "--json -D " WINDOW " -p %s 127.0.0.1", port);
		if (start_end(&client, l, measure, f) == 0 && process_wait(&client, stop, f) == 0)
			document = json_memory_load(client.said ? client.said : "", client.said_n,
						    0, NULL);
		else if (client.errors)
			process_last_error(&client, l->failed, sizeof(l->failed));
	}
	read_window(l, document);
	json_decref(document);
	process_release(&client);
	process_release(&server);
	if (stop->signal)
		stop_raise(stop, f);
	return fault_is(f) ? -1 : 0;
}
