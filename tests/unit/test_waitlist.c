// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* line: who waits hears its place, moves up, is served in its order, and can go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "wire/waitlist.h"
#include "wire/message.h"

#define CLIENTS 3

struct world {
	struct waitlist waitlist;
	struct oob client[WAITLIST_PLACES + 1]; /* their ends */
};

/* Client I joins; its first message says who it is. */
static bool join(struct world *w, unsigned i)
{
	int fd[2];
	struct oob o;
	json_t *first = json_pack("{s:s, s:i}", "type", "hello", "who", (int)i);

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
	oob_adopt(&o, oob_ops_tcp(), NULL, fd[0]);
	oob_adopt(&w->client[i], oob_ops_tcp(), NULL, fd[1]);
	if (waitlist_join(&w->waitlist, &o, first))
		return true;
	oob_release(&o);
	json_decref(first);
	return false;
}

static int set_up(void **state)
{
	struct world *w = test_calloc(1, sizeof(*w));

	for (unsigned i = 0; i <= WAITLIST_PLACES; i++)
		w->client[i] = OOB_EMPTY;
	for (unsigned i = 0; i < CLIENTS; i++)
		assert_true(join(w, i));
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	waitlist_end(&w->waitlist);
	assert_int_equal(w->waitlist.count, 0);
	for (unsigned i = 0; i <= WAITLIST_PLACES; i++)
		oob_release(&w->client[i]);
	test_free(w);
	return 0;
}

/* The next message to client I, NULL if there is none. */
static json_t *heard(struct world *w, unsigned i)
{
	struct fault f = {0};
	json_t *m = NULL;

	return oob_poll(&w->client[i], &m, &f) == 1 ? m : NULL;
}

static void assert_hears_place(struct world *w, unsigned i, const char *with, int place)
{
	json_t *m = heard(w, i);

	assert_non_null(m);
	assert_true(message_is(m, "busy"));
	assert_string_equal(json_string_value(json_object_get(m, "with")), with);
	assert_int_equal(json_integer_value(json_object_get(m, "place")), place);
	json_decref(m);
}

static void assert_hears(struct world *w, unsigned i, const char *type)
{
	json_t *m = heard(w, i);

	assert_non_null(m);
	assert_true(message_is(m, type));
	json_decref(m);
}

static void places_are_told_once(void **state)
{
	struct world *w = *state;
	uint64_t from, to;

	/* Again, if another process had the CPU until they were due once more. */
	do {
		for (unsigned i = 0; i < 2 * CLIENTS; i++)
			json_decref(heard(w, i % CLIENTS));
		waitlist_notify_again(&w->waitlist);
		from = clock_now_ns();
		waitlist_notify(&w->waitlist, "a", NULL);
		waitlist_notify(&w->waitlist, "a", NULL);
		to = clock_now_ns();
	} while (to - from >= WAITLIST_REPEAT_NS);
	for (unsigned i = 0; i < CLIENTS; i++) {
		assert_hears_place(w, i, "a", (int)i + 1);
		assert_null(heard(w, i));
	}
	assert_in_range(waitlist_due_ns(&w->waitlist), from + WAITLIST_REPEAT_NS,
			to + WAITLIST_REPEAT_NS);
	for (unsigned i = 0; i < CLIENTS; i++)
		w->waitlist.place[i].due_ns = clock_now_ns();
	waitlist_notify(&w->waitlist, "a", NULL);
	for (unsigned i = 0; i < CLIENTS; i++)
		assert_hears_place(w, i, "a", (int)i + 1);
}

static void the_first_is_served_and_the_others_move_up(void **state)
{
	struct world *w = *state;
	struct oob o;
	json_t *first;

	waitlist_notify(&w->waitlist, "a", NULL);
	for (unsigned i = 0; i < CLIENTS; i++)
		assert_hears_place(w, i, "a", (int)i + 1);
	for (unsigned i = 0; i < CLIENTS; i++) {
		assert_true(waitlist_next(&w->waitlist, &o, &first, NULL));
		assert_int_equal(json_integer_value(json_object_get(first, "who")), i);
		assert_hears(w, i, "alive");
		json_decref(first);
		oob_release(&o);
		waitlist_notify_again(&w->waitlist);
		waitlist_notify(&w->waitlist, "b", NULL);
		for (unsigned k = i + 1; k < CLIENTS; k++)
			assert_hears_place(w, k, "b", (int)(k - i));
	}
	assert_false(waitlist_next(&w->waitlist, &o, &first, NULL));
	assert_true(waitlist_due_ns(&w->waitlist) == UINT64_MAX);
}

static void who_goes_or_speaks_is_dropped(void **state)
{
	struct world *w = *state;
	struct pollfd p[WAITLIST_PLACES];
	struct fault f = {0};
	struct oob o;
	json_t *first;
	struct peer_log by = PEER_LOG_TO(tmpfile()), *log = &by;
	char text[1024] = "";

	assert_non_null(log->out);
	waitlist_drop_gone(&w->waitlist, log);
	assert_int_equal(w->waitlist.count, CLIENTS);
	oob_release(&w->client[0]);
	assert_int_equal(oob_send(&w->client[1], message_new("bye"), clock_now_ns(), &f), 0);
	waitlist_drop_gone(&w->waitlist, log);
	assert_int_equal(w->waitlist.count, 1);
	assert_int_equal(waitlist_polled(&w->waitlist, p), 1);
	waitlist_notify(&w->waitlist, "a", log);
	assert_hears_place(w, 2, "a", 1);
	/* One that went unseen is found when its turn comes. */
	assert_int_equal(oob_send(&w->client[2], message_new("error"), clock_now_ns(), &f), 0);
	assert_false(waitlist_next(&w->waitlist, &o, &first, log));
	rewind(log->out);
	assert_true(fread(text, 1, sizeof(text) - 1, log->out) > 0);
	fclose(log->out);
	assert_non_null(strstr(text, "was lost"));
	assert_non_null(strstr(text, "sent an unexpected message"));
	assert_non_null(strstr(text, "gave up"));
}

static void who_does_not_read_is_dropped(void **state)
{
	struct world *w = *state;

	for (unsigned n = 0; n < 1000000 && w->waitlist.count == CLIENTS; n++) {
		waitlist_notify_again(&w->waitlist);
		waitlist_notify(&w->waitlist, "a", NULL);
		while (w->waitlist.count && heard(w, 1))
			;
		while (w->waitlist.count && heard(w, 2))
			;
	}
	assert_int_equal(w->waitlist.count, CLIENTS - 1);
	assert_int_equal(json_integer_value(json_object_get(w->waitlist.place[0].first, "who")), 1);
}

static void it_has_an_end(void **state)
{
	struct world *w = *state;

	for (unsigned i = CLIENTS; i < WAITLIST_PLACES; i++)
		assert_true(join(w, i));
	assert_false(join(w, WAITLIST_PLACES));
	waitlist_end(&w->waitlist);
	for (unsigned i = 0; i < WAITLIST_PLACES; i++)
		assert_hears(w, i, "ended");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(places_are_told_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_first_is_served_and_the_others_move_up, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(who_goes_or_speaks_is_dropped, set_up, tear_down),
		cmocka_unit_test_setup_teardown(who_does_not_read_is_dropped, set_up, tear_down),
		cmocka_unit_test_setup_teardown(it_has_an_end, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("line", tests, NULL, NULL);
}
