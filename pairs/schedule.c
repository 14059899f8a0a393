// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "schedule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"

#define RANDOM_OF_QUICK 8

const char *schedule_file(const char *name)
{
	return strncmp(name, "file=", 5) == 0 && name[5] ? name + 5 : NULL;
}

/* Rounds that the circle method takes: everyone meets everyone, and an odd one waits in each. */
static uint32_t circle_rounds(uint32_t hosts)
{
	return hosts % 2 ? hosts : hosts - 1;
}

uint32_t schedule_circle(uint32_t hosts, uint32_t round, uint32_t i)
{
	uint32_t n = circle_rounds(hosts), partner;

	if (i < n) {
		partner = (uint32_t)(((uint64_t)round + n - i) % n);
		if (partner != i)
			return partner;
		return n < hosts ? n : SCHEDULE_NOBODY;
	}
	return round % 2 ? (round + n) / 2 : round / 2; /* twice it is the round, modulo an odd n */
}

/* The lower half against the upper one; the middle of an odd number waits. */
static uint32_t half_partner(uint32_t hosts, uint32_t i)
{
	uint32_t half = hosts / 2, shift = hosts - half;

	if (i < half)
		return i + shift;
	return i >= shift ? i - shift : SCHEDULE_NOBODY;
}

uint64_t schedule_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

void schedule_shuffle(uint64_t *state, void *list, uint32_t n, size_t size)
{
	char *at = list, was[SCHEDULE_SHUFFLED];

	for (uint32_t i = n; i > 1; i--) {
		uint32_t k = (uint32_t)(schedule_random(state) % i);

		memcpy(was, at + (i - 1) * size, size);
		memcpy(at + (i - 1) * size, at + k * size, size);
		memcpy(at + k * size, was, size);
	}
}

/* CLIENT starts the run with SERVER. */
static void set_pair(struct schedule_turn *turns, uint32_t client, uint32_t server)
{
	turns[client] = (struct schedule_turn){.peer = server, .client = true};
	turns[server] = (struct schedule_turn){.peer = client};
}

/*
 * Whether I is the client of its PARTNER: of half of them. So each host is a server, too, and its
 * clients name one that never came.
 */
static bool calls(uint32_t i, uint32_t partner)
{
	return (i < partner) == ((i + partner) % 2 != 0);
}

/* The circle method over shuffled hosts: a random perfect matching, another one in each round. */
static void random_round(const struct schedule *s, uint32_t round, struct schedule_turn *turns)
{
	for (uint32_t i = 0; i < s->hosts; i++) {
		uint32_t partner = schedule_circle(s->hosts, round, i);

		if (partner != SCHEDULE_NOBODY && calls(i, partner))
			set_pair(turns, s->order[i], s->order[partner]);
	}
}

/* HOST receives from k others, which are spread over all hosts. */
static void incast_to(const struct schedule *s, uint32_t host, struct schedule_turn *turns)
{
	uint32_t others = s->hosts - 1;

	for (uint32_t lane = 0; lane < s->k; lane++) {
		uint32_t step = 1 + (uint32_t)((uint64_t)lane * others / s->k);

		turns[(host + step) % s->hosts] =
			(struct schedule_turn){.peer = host, .lane = lane, .client = true};
	}
}

static void list_round(const struct schedule *s, uint32_t round, struct schedule_turn *turns)
{
	size_t low = 0, high = s->pairs_n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->pairs[middle].round < round)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < s->pairs_n && s->pairs[low].round == round; low++) {
		const struct schedule_pair *p = &s->pairs[low];

		set_pair(turns, p->client, p->server);
		turns[p->client].rail = turns[p->server].rail = p->rail;
		turns[p->client].part = turns[p->server].part = p->part;
	}
}

void schedule_round(const struct schedule *s, uint32_t round, struct schedule_turn *turns)
{
	for (uint32_t i = 0; i < s->hosts; i++)
		turns[i] = (struct schedule_turn){.peer = SCHEDULE_NOBODY};
	if (s->kind == SCHEDULE_LIST)
		return list_round(s, round, turns);
	if (s->kind == SCHEDULE_INCAST)
		return incast_to(s, round, turns);
	if (s->kind == SCHEDULE_QUICK && round)
		return random_round(s, round - 1, turns);
	for (uint32_t i = 0; i < s->hosts; i++) {
		uint32_t partner = s->kind == SCHEDULE_QUICK ? half_partner(s->hosts, i)
							     : schedule_circle(s->hosts, round, i);

		if (partner != SCHEDULE_NOBODY && calls(i, partner))
			set_pair(turns, i, partner);
	}
}

/* Refuse a k that has no meaning for so many hosts. */
static int check_k(const struct schedule *s, struct fault *f)
{
	if (s->kind != SCHEDULE_INCAST || (s->k && s->k < s->hosts))
		return 0;
	fault_raise(f, FAULT_USAGE, 0, "an incast of %u with %u hosts", s->k, s->hosts);
	return fault_fix(f, "use a number from 1 to %u", s->hosts - 1);
}

int schedule_init(struct schedule *s, enum schedule_kind kind, uint32_t hosts, uint32_t k,
		  uint64_t seed, struct fault *f)
{
	uint64_t state = seed * UINT64_C(0x2545f4914f6cdd1d) + 1;

	*s = (struct schedule){.kind = kind, .hosts = hosts, .k = k};
	if (hosts < 2 || hosts > SCHEDULE_HOSTS_MAX) {
		fault_raise(f, FAULT_USAGE, 0, "a schedule for %u hosts", hosts);
		return fault_fix(f, "there must be 2 to %d hosts", SCHEDULE_HOSTS_MAX);
	}
	if (check_k(s, f))
		return -1;
	s->rounds = circle_rounds(hosts);
	if (kind == SCHEDULE_QUICK && s->rounds > 1 + RANDOM_OF_QUICK)
		s->rounds = 1 + RANDOM_OF_QUICK;
	else if (kind == SCHEDULE_QUICK)
		s->kind = SCHEDULE_FULL;
	else if (kind == SCHEDULE_INCAST)
		s->rounds = hosts;
	s->order = calloc(hosts, sizeof(*s->order));
	if (!s->order)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "calloc");
	for (uint32_t i = 0; i < hosts; i++)
		s->order[i] = i;
	schedule_shuffle(&state, s->order, hosts, sizeof(*s->order));
	return 0;
}

int schedule_put(struct schedule *s, const struct schedule_pair *pair, struct fault *f)
{
	struct schedule_pair *more;

	if (pair->client == pair->server)
		return fault_usage(f, "name two hosts", "a pair of host %u and itself", pair->client);
	if (s->pairs_n == SCHEDULE_PAIRS_MAX)
		return fault_raise(f, FAULT_USAGE, 0, "a schedule of more than %u pairs",
				   SCHEDULE_PAIRS_MAX);
	more = grow(s->pairs, s->pairs_n, sizeof(*more));
	if (!more)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "realloc");
	s->pairs = more;
	s->pairs[s->pairs_n++] = *pair;
	return 0;
}

int schedule_add(struct schedule *s, uint32_t round, uint32_t a, uint32_t b, struct fault *f)
{
	uint32_t client = calls(a, b) ? a : b;

	return schedule_put(
		s, &(struct schedule_pair){.round = round, .client = client, .server = a + b - client},
		f);
}

static int compare_pairs(const void *x, const void *y)
{
	const struct schedule_pair *p = x, *q = y;

	if (p->round != q->round)
		return p->round < q->round ? -1 : 1;
	return p->client < q->client ? -1 : p->client > q->client;
}

/* Nobody may be in two pairs of a round. SEEN[i] is the last round of host i, plus 1. */
static int check_round(const struct schedule_pair *p, uint32_t host, uint32_t *seen, const char *from,
		       const struct hosts *hosts, struct fault *f)
{
	if (seen[host] != p->round + 1) {
		seen[host] = p->round + 1;
		return 0;
	}
	fault_raise(f, FAULT_USAGE, 0, "%s: %s has two partners in round %u", from,
		    hosts->host[host].name, p->round);
	fault_cause(f, "Two runs on a host would slow each other down");
	return fault_fix(f, "put one of its pairs into another round");
}

int schedule_complete(struct schedule *s, const char *from, const struct hosts *hosts,
		      struct fault *f)
{
	uint32_t *seen;
	int rc;

	if (!s->pairs_n)
		return fault_raise(f, FAULT_USAGE, 0, "%s: there is no pair to measure", from);
	qsort(s->pairs, s->pairs_n, sizeof(*s->pairs), compare_pairs);
	s->rounds = s->pairs[s->pairs_n - 1].round + 1;
	seen = calloc(s->hosts, sizeof(*seen));
	rc = seen ? 0 : fault_raise(f, FAULT_LOCAL, ENOMEM, "calloc");
	for (const struct schedule_pair *p = s->pairs; !rc && p < s->pairs + s->pairs_n; p++)
		rc = check_round(p, p->client, seen, from, hosts, f) ||
		     check_round(p, p->server, seen, from, hosts, f);
	free(seen);
	return rc ? -1 : 0;
}

uint32_t schedule_lanes(const struct schedule *s)
{
	return s->kind == SCHEDULE_INCAST ? s->k : 1;
}

void schedule_release(struct schedule *s)
{
	free(s->pairs);
	free(s->order);
	*s = (struct schedule){0};
}
