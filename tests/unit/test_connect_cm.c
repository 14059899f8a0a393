// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * connect_cm: whose failure it is that ends the wait while rdma_cm connects the QPs. Of rdma_cm
 * there is here what tells of events: none come, or it fails.
 */
#include "oob_pair.h"

#include <errno.h>

#include "base/phase.h"
#include "endpoint/rail.h"
#include "endpoint/worker.h"
#include "session/program.h"

static int failure; /* of rdma_cm */

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	(void)channel;
	(void)event;
	errno = failure;
	return -1;
}

/* How a server's wait for its client ends, which has closed the connection, or is silent. */
static struct fault wait_for_client(bool closed)
{
	struct fault f = {0};
	struct stop stop = {.fd = -1};
	struct options options = {.experiment.rdma_cm = 1};
	struct hca_port device = {.device = "sim0", .port = 1};
	struct rdma_event_channel channel = {.fd = -1};
	struct rdma_cm_id listener = {0};
	struct rail rail = {0};
	struct worker worker = {
		.rail = &rail,
		.qps.count = 1,
		.cm = {.channel = &channel, .listener = &listener, .device = &device}};
	struct endpoint ep = {.options = &options,
			      .fault = &f,
			      .server = true,
			      .worker = &worker,
			      .workers_made = 1};
	struct pair p = new_pair();
	struct link l = {.oob = p.oob, .stop = &stop, .fault = &f, .timeout_ns = 50000000};
	json_t *early = NULL;

	if (closed) {
		close(p.peer);
		p.peer = -1;
	}
	assert_int_equal(connect_cm(&ep, &l, "qps", &early), -1);
	p.oob = l.oob;
	end_pair(&p);
	free(worker.cm.id);
	free(worker.cm.is_up);
	return f;
}

static void stages(void **state)
{
	struct fault f;

	(void)state;
	failure = EAGAIN;
	f = wait_for_client(true);
	assert_int_equal(f.code, FAULT_PEER);
	assert_int_equal(phase_row(f.phase)->stage, STAGE_AGREE);
	f = wait_for_client(false);
	assert_int_equal(f.code, FAULT_DEADLINE);
	assert_int_equal(phase_row(f.phase)->stage, STAGE_CONNECT_QPS);
	failure = EIO;
	f = wait_for_client(true);
	assert_int_equal(f.errnum, EIO);
	assert_int_equal(phase_row(f.phase)->stage, STAGE_CONNECT_QPS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(stages)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
