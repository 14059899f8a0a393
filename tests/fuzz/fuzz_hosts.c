// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The files that `rdmark-pairs` is told of: the first line of the input is a list of hosts, what
 * follows the first empty line is a file of hosts, of groups and of a schedule.
 */
#include <fcntl.h>
#include <unistd.h>

#include "../../pairs/hosts.h"
#include "../../pairs/names.h"
#include "../../pairs/schedule.h"
#include "fuzz.h"

#define PLENTY 300 /* hosts of which a schedule is tried */

static char file[64];

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *in = getenv("TMPDIR");
	int fd;

	(void)argc;
	(void)argv;
	snprintf(file, sizeof(file), "%.40s/hosts-XXXXXX", in ? in : "/tmp");
	fd = mkstemp(file);
	return fd < 0 || close(fd);
}

static void write_file(const struct fuzz_input *in)
{
	int fd = open(file, O_WRONLY | O_TRUNC | O_CLOEXEC);

	if (fd < 0 || write(fd, in->at, in->left) != (ssize_t)in->left || close(fd))
		abort();
}

/* Each host is found by its name, and all of them come back from the list that names them. */
static void check_hosts(const struct hosts *h)
{
	struct hosts again = {0};
	struct fault f = {0};
	char *list = hosts_list(h, false);

	FUZZ_CHECK(list && hosts_expand(&again, list, "list", &f) == 0);
	FUZZ_CHECK(hosts_complete(&again, &f) == 0 && again.n == h->n);
	for (uint32_t i = 0; i < h->n; i++) {
		FUZZ_CHECK(*h->host[i].name && hosts_find(h, h->host[i].name) == i);
		FUZZ_CHECK(hosts_find(&again, h->host[i].name) != HOSTS_NONE);
	}
	hosts_release(&again);
	free(list);
}

/* Who is whose peer is so at both ends, and nobody is his own. */
static void check_schedule(const struct hosts *h, const char *kind)
{
	struct schedule_turn *turn = calloc(h->n, sizeof(*turn));
	char name[80];
	struct schedule_asked asked = {.name = name};
	bool plan = strcmp(kind, "plan") == 0;
	struct fault f = {0};
	struct schedule s;

	snprintf(name, sizeof(name), "%s=%s", kind, file);
	asked.plan = plan ? file : NULL;
	asked.rails = "a,b";
	if (schedule_open(&s, &asked, h, &f) == 0) {
		FUZZ_CHECK(!plan || s.rounds <= s.pairs_n);
		for (uint32_t round = 0; round < s.rounds && round < 50; round++) {
			schedule_round(&s, round, turn);
			for (uint32_t i = 0; i < h->n; i++)
				FUZZ_CHECK(turn[i].peer == SCHEDULE_NOBODY ||
					   (turn[i].peer < h->n && turn[i].peer != i &&
					    turn[turn[i].peer].peer == i));
		}
		schedule_release(&s);
	} else {
		FUZZ_CHECK(fault_is(&f));
	}
	free(turn);
}

static void check_groups(void)
{
	struct groups g = {0};
	struct fault f = {0};

	if (groups_read(&g, file, &f))
		FUZZ_CHECK(fault_is(&f));
	else
		groups_of(&g, "n1");
	groups_release(&g);
}

static void use(struct hosts *h)
{
	struct fault f = {0};

	if (hosts_complete(h, &f) == 0) {
		check_hosts(h);
		if (h->n <= PLENTY) {
			check_schedule(h, "file");
			check_schedule(h, "group");
			check_schedule(h, "plan");
		}
	}
	hosts_release(h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	char *list = fuzz_text(&in, '\n');
	struct hosts h = {0};
	struct fault f = {0};

	write_file(&in);
	check_groups();
	if (hosts_expand(&h, list, "list", &f) == 0)
		use(&h);
	else
		hosts_release(&h);
	h = (struct hosts){0};
	if (hosts_read(&h, file, &(struct fault){0}) == 0)
		use(&h);
	else
		hosts_release(&h);
	free(list);
	return 0;
}
