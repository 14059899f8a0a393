// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * port_events: the ports of tests/unit/data/ports, each in the form of its driver: every counter
 * under its canonical name, and the reason for each that is unknown.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "host/port_events.h"
#include "interfaces.h"
#include "tree.h"

#define DATA  "tests/unit/data/ports/"
#define PORT  "class/infiniband/dev0/ports/1/"
#define LINES 160

/* The lines of a file: what is between the bars. */
struct fixture {
	char text[32768];
	char *field[LINES][3];
	unsigned lines;
	bool no_netdev;
};

static char *trim(char *text)
{
	char *end = text + strlen(text);

	while (*text == ' ')
		text++;
	while (end > text && end[-1] == ' ')
		*--end = '\0';
	return text;
}

static struct fixture *read_fixture(const char *name)
{
	static struct fixture x;
	char path[256], *rest = x.text, *line;
	size_t n;
	FILE *in;

	memset(&x, 0, sizeof(x));
	snprintf(path, sizeof(path), DATA "%s", name);
	in = fopen(path, "re");
	if (!in) {
		print_message("%s: not found; run this in the repository's root\n", path);
		skip();
	}
	n = fread(x.text, 1, sizeof(x.text) - 1, in);
	assert_true(n > 0 && n < sizeof(x.text) - 1);
	fclose(in);
	while ((line = strsep(&rest, "\n"))) {
		if (!*line || *line == '#')
			continue;
		assert_true(x.lines < LINES);
		for (int i = 0; i < 3; i++) {
			char *field = strsep(&line, "|");

			assert_non_null(field);
			x.field[x.lines][i] = trim(field);
		}
		x.no_netdev |= strcmp(x.field[x.lines][0], "netdev") == 0;
		x.lines++;
	}
	return &x;
}

/* Make the tree: column 1 is before, 2 after. "ethtool/eth0: x" is a line of that file. */
static void put_fixture(void **state, const struct fixture *x, int column)
{
	static const char file[] = "ethtool/eth0";
	char netdev[8192] = "";

	for (unsigned i = 0; i < x->lines; i++) {
		const char *name = x->field[i][0], *value = x->field[i][column];
		size_t n = strlen(file), used = strlen(netdev);

		if (strncmp(name, file, n) == 0)
			snprintf(netdev + used, sizeof(netdev) - used, "%s: %s\n", name + n + 2,
				 value);
		else if (*name != '=' && strcmp(name, "netdev") != 0)
			tree_put(state, name, value);
	}
	if (netdev[0])
		tree_put(state, file, netdev);
}

static struct port_snapshot snapshot_of(void **state, const struct fixture *x)
{
	struct port_snapshot s = {.ports = 1};
	struct port_events p;

	put_fixture(state, x, 1);
	port_events_open(&p, "dev0", 1, x->no_netdev ? "" : "eth0", "0000:41:00.0");
	port_events_start(&p);
	put_fixture(state, x, 2);
	port_events_stop(&p);
	port_events_changes(&p, &s.port[0]);
	return s;
}

/* What S says of KEY, in the words of the fixtures: into WHAT the value, and into OWN a name. */
static void say(const struct port_snapshot *s, const char *key, char what[64], const char **own)
{
	static const struct port_snapshot none; /* a peer that says nothing */
	const struct port_changes *p = &s->port[0];
	enum port_event event = port_event_find(key);
	bool packets;

	*own = "";
	*what = '\0';
	if (strcmp(key, "resent") == 0) {
		snprintf(what, 64, "%g", port_snapshot_resent(s, &packets));
		*own = packets ? "packets" : "times";
	} else if (strcmp(key, "timeouts") == 0) {
		snprintf(what, 64, "%g", port_snapshot_timeouts(s, &none));
	} else if (strcmp(key, "lost") == 0) {
		snprintf(what, 64, "%g", port_snapshot_lost(s));
	} else {
		const struct port_change *c = &p->event[event];

		assert_true(event < PORT_EVENTS);
		if (port_change_is_known(c))
			snprintf(what, 64, "%lld%s", (long long)c->change,
				 c->known == PORT_EXACT ? "" : " at_least");
		else
			snprintf(what, 64, "%s", port_known_row(c->known)->name);
		*own = c->own ? c->own : "";
	}
}

static void driver(void **state, const char *name)
{
	const struct fixture *x = read_fixture(name);
	struct port_snapshot s = snapshot_of(state, x);
	bool expected[PORT_EVENTS] = {false};

	for (unsigned i = 0; i < x->lines; i++) {
		char *const *field = x->field[i];
		const char *own, *key = field[0] + 2;
		char what[64];

		if (field[0][0] != '=')
			continue;
		say(&s, key, what, &own);
		if (strcmp(what, field[1]) != 0 || strcmp(own, field[2]) != 0)
			fail_msg("%s: %s is '%s' of '%s'", name, key, what, own);
		if (port_event_find(key) < PORT_EVENTS)
			expected[port_event_find(key)] = true;
	}
	for (int i = 0; i < PORT_EVENTS; i++)
		if (!expected[i] && port_change_is_known(&s.port[0].event[i]))
			fail_msg("%s: it does not count %s", name, port_event_row(i)->name);
}

static void mlx5(void **state)
{
	driver(state, "mlx5");
}
static void bnxt_re(void **state)
{
	driver(state, "bnxt_re");
}
static void irdma(void **state)
{
	driver(state, "irdma");
}
static void mana(void **state)
{
	driver(state, "mana");
}
static void efa(void **state)
{
	driver(state, "efa");
}
static void hns(void **state)
{
	driver(state, "hns");
}
static void mlx4(void **state)
{
	driver(state, "mlx4");
}
static void rxe(void **state)
{
	driver(state, "rxe");
}
#define WITH_TREE(test) cmocka_unit_test_setup_teardown(test, tree_make, tree_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_TREE(mlx5), WITH_TREE(bnxt_re), WITH_TREE(irdma), WITH_TREE(mana),
		WITH_TREE(efa),  WITH_TREE(hns),     WITH_TREE(mlx4),  WITH_TREE(rxe),
	};

	return cmocka_run_group_tests_name("port_drivers", tests, NULL, NULL);
}
