// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* pending: which connection goes when there are too many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <sys/socket.h>

#include "admit/pending.h"
#include "base/clock.h"
#include "proto/message.h"

#define STRANGER 2
#define HONEST   1

static int set_up(void **state)
{
	*state = test_calloc(1, sizeof(struct pending));
	pending_init(*state);
	return 0;
}

static int tear_down(void **state)
{
	test_free(*state);
	return 0;
}

/* A connection from ORIGIN that has come at AT; its descriptor is never used. */
static struct pending_place *arrive(struct pending *p, uint64_t origin, uint64_t at)
{
	struct pending_place *place = pending_place_for(p, origin);

	*place = (struct pending_place){.origin = origin, .deadline_ns = at};
	place->oob.fd = 1000;
	return place;
}

static void fill(struct pending *p, uint64_t origin, uint64_t at)
{
	for (int i = 0; i < PENDING_MAX; i++)
		if (p->place[i].oob.fd < 0)
			arrive(p, origin, at++);
}

static void a_stranger_takes_its_own_places(void **state)
{
	struct pending *p = *state;
	struct pending_place *oldest = arrive(p, HONEST, 1);

	fill(p, STRANGER, 100);
	for (uint64_t at = 200; at < 300; at++) {
		struct pending_place *place = arrive(p, STRANGER, at);

		assert_ptr_not_equal(place, oldest);
	}
	assert_int_equal(oldest->origin, HONEST);
	/* One more of another host takes the stranger's oldest. */
	assert_int_equal(pending_place_for(p, HONEST + 10)->origin, STRANGER);
	assert_int_equal(pending_place_for(p, HONEST + 10)->deadline_ns, 300 - (PENDING_MAX - 1));
}

static void of_one_host_those_without_a_challenge_go_first(void **state)
{
	struct pending *p = *state;
	struct pending_place *challenged = arrive(p, HONEST, 1);

	challenged->visit.challenged = true;
	fill(p, HONEST, 100);
	for (uint64_t at = 200; at < 300; at++)
		assert_ptr_not_equal(arrive(p, HONEST, at), challenged);
	for (int i = 0; i < PENDING_MAX; i++)
		p->place[i].visit.challenged = true;
	assert_ptr_equal(pending_place_for(p, HONEST), challenged); /* the oldest */
}

/* A host that has been challenged as often as it can does not push out one that has not yet been.
 */
static void a_host_with_more_goes_before_one_without_a_challenge(void **state)
{
	struct pending *p = *state;
	struct pending_place *honest = arrive(p, HONEST, 1);

	fill(p, STRANGER, 100);
	for (int i = 0; i < PENDING_MAX; i++)
		if (&p->place[i] != honest)
			p->place[i].visit.challenged = true;
	assert_int_equal(pending_place_for(p, STRANGER)->origin, STRANGER);
	assert_int_equal(pending_place_for(p, HONEST)->origin, STRANGER);
}

/* With as many hosts as places the new one itself counts. */
static void a_second_connection_takes_the_place_of_the_first(void **state)
{
	struct pending *p = *state;

	for (uint64_t i = 0; i < PENDING_MAX; i++)
		arrive(p, 100 + i, 1000 - i);
	assert_int_equal(pending_place_for(p, 105)->origin, 105);
	assert_int_equal(pending_place_for(p, 99)->deadline_ns, 1000 - (PENDING_MAX - 1));
}

static uint64_t origin_of(const char *text)
{
	struct sockaddr_storage sa = {.ss_family = strchr(text, ':') ? AF_INET6 : AF_INET};

	if (sa.ss_family == AF_INET6)
		inet_pton(AF_INET6, text, &((struct sockaddr_in6 *)&sa)->sin6_addr);
	else
		inet_pton(AF_INET, text, &((struct sockaddr_in *)&sa)->sin_addr);
	return pending_origin(&sa);
}

static void what_is_one_host(void **state)
{
	struct sockaddr_storage local = {.ss_family = AF_UNIX};

	(void)state;
	assert_true(origin_of("192.0.2.1") == origin_of("::ffff:192.0.2.1"));
	assert_true(origin_of("192.0.2.1") != origin_of("192.0.2.2"));
	assert_true(origin_of("2001:db8::1") == origin_of("2001:db8::ffff:2"));
	assert_true(origin_of("2001:db8::1") != origin_of("2001:db8:0:1::1"));
	assert_true(origin_of("0.0.0.0") != origin_of("::1"));
	assert_true(pending_origin(&local) == 0);
}

static void what_it_said(void **state)
{
	struct pending_place p = {.visit = {.challenged = false}};

	(void)state;
	assert_string_equal(pending_said(&p), "sent nothing");
	p.visit.challenged = true;
	assert_string_equal(pending_said(&p), "was challenged, but has not proved itself");
	p.oob.have = 3;
	assert_string_equal(pending_said(&p), "sent only a part of a message");
}

static void who_must_go_is_told(void **state)
{
	struct pending_place p = {.visit = {.challenged = false}};
	struct fault f = {0};
	struct oob peer;
	json_t *m;
	int fd[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
	oob_adopt(&p.oob, NULL, fd[0]);
	oob_adopt(&peer, NULL, fd[1]);
	pending_tell_busy(&p, "192.0.2.1:1");
	oob_release(&p.oob);
	assert_int_equal(oob_poll(&peer, &m, &f), 1);
	assert_true(message_is(m, "busy"));
	json_decref(m);
	oob_release(&peer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_stranger_takes_its_own_places, set_up, tear_down),
		cmocka_unit_test_setup_teardown(of_one_host_those_without_a_challenge_go_first,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_host_with_more_goes_before_one_without_a_challenge, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_second_connection_takes_the_place_of_the_first,
						set_up, tear_down),
		cmocka_unit_test(what_is_one_host),
		cmocka_unit_test(what_it_said),
		cmocka_unit_test(who_must_go_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
