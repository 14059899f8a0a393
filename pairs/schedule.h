/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * schedule: which hosts measure with each other in which round.
 *
 * A pure function of the number of hosts, the seed and the round: every process computes it by
 * itself, and all of them get the same. Nobody has two partners in a round; of an incast, nobody
 * sends twice. Hosts are numbers from 0.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "pairs/hosts.h"

#define SCHEDULE_NOBODY    UINT32_MAX
#define SCHEDULE_HOSTS_MAX 65536
#define SCHEDULE_PAIRS_MAX (UINT32_C(1) << 24) /* of a list */

enum schedule_kind {
	SCHEDULE_FULL,   /* every pair once: the circle method */
	SCHEDULE_QUICK,  /* the lower against the upper half, then 8 rounds of random pairs, none of
			    them twice; a full one if that is not longer */
	SCHEDULE_INCAST, /* `k` hosts send to one; each host receives in one round */
	SCHEDULE_LIST    /* pairs that were read */
};

/* What a pair is measured for. */
enum part {
	PART_LOADED,  /* screen: all pairs at once; it is of no plan */
	PART_SCREEN,  /* screen: few pairs at a time */
	PART_BLOCK,   /* all of one group with all of another, all groups at once */
	PART_TEST,    /* a candidate with a reference, or with another candidate */
	PART_CONTROL  /* two references, in the same slot */
};

struct schedule_pair {
	uint32_t round, client, server;
	uint32_t rail; /* from 1; 0: all of the hosts */
	enum part part;
};

struct schedule {
	enum schedule_kind kind;
	uint32_t hosts, rounds;
	uint32_t k;
	struct schedule_pair *pairs; /* of a list: in the order of rounds */
	size_t pairs_n;
	uint32_t *order; /* random pairs: a permutation of the hosts */
};

struct schedule_turn {
	uint32_t peer; /* SCHEDULE_NOBODY: this host waits */
	uint32_t lane; /* of an incast: the how manyth sender; which server to ask */
	bool client;   /* this host starts the run */
	uint32_t rail; /* and part: as of the pair */
	enum part part;
};

/*
 * Set up a schedule of another kind than a list for HOSTS hosts. K: senders of an incast. Returns
 * 0, or -1 with FAULT_USAGE or FAULT_LOCAL.
 */
int schedule_init(struct schedule *s, enum schedule_kind kind, uint32_t hosts, uint32_t k,
		  uint64_t seed, struct fault *f);

/* Write what each of the hosts does in ROUND to TURNS. Takes a time that grows with the hosts. */
void schedule_round(const struct schedule *s, uint32_t round, struct schedule_turn *turns);

/*
 * Add PAIR, of two hosts, to a list; or that of hosts A and B in ROUND, one of which is made the client.
 * Returns 0, or -1 with FAULT_USAGE (too many) or FAULT_LOCAL. After the last pair they are sorted:
 * FAULT_USAGE, with FROM as their source, if there is none, or if one of HOSTS is twice in a round.
 */
int schedule_put(struct schedule *s, const struct schedule_pair *pair, struct fault *f);
int schedule_add(struct schedule *s, uint32_t round, uint32_t a, uint32_t b, struct fault *f);
int schedule_complete(struct schedule *s, const char *from, const struct hosts *hosts,
		      struct fault *f);

/*
 * The partner of I of so many HOSTS by the circle method: in ROUND those meet whose sum is ROUND, modulo
 * the number of rounds. The one that would meet itself meets the last host, which stands outside the
 * circle, or SCHEDULE_NOBODY if HOSTS is odd.
 */
uint32_t schedule_circle(uint32_t hosts, uint32_t round, uint32_t i);

/* The next number after STATE: splitmix64, of which every seed gives a good sequence. */
uint64_t schedule_random(uint64_t *state);

/*
 * Shuffle the N elements of SIZE bytes, SCHEDULE_SHUFFLED at most, at LIST, by the numbers after
 * STATE.
 */
#define SCHEDULE_SHUFFLED 16
void schedule_shuffle(uint64_t *state, void *list, uint32_t n, size_t size);

/* The word of PART in plans; NULL: it has none. */
const char *schedule_word(enum part part);

/* The part of that WORD; PART_LOADED: it is none. */
enum part schedule_part(const char *word);

/* The file of a schedule's name "file=FILE"; NULL: it is of another kind. */
const char *schedule_file(const char *name);

/* Servers that each host needs: for the senders to one host. */
uint32_t schedule_lanes(const struct schedule *s);

void schedule_release(struct schedule *s);

/* A schedule as it is asked for on the command line. */
struct schedule_asked {
	const char *name; /* "quick", "incast=3", "file=FILE", … */
	const char *plan, *rails; /* a file; the devices in it, as "mlx5_0,mlx5_1". NULL: none */
	uint64_t seed;
	uint64_t at_once; /* pairs of a round; 0: all */
};

/*
 * Set up the list that ASKED names: a plan or "file=FILE". Returns 0, or -1 with FAULT_USAGE or
 * FAULT_LOCAL.
 */
int schedule_read(struct schedule *s, const struct schedule_asked *asked, const struct hosts *hosts,
		  struct fault *f);

/*
 * Set up the schedule that is ASKED for. Returns 0, or -1 with FAULT_USAGE or FAULT_LOCAL.
 *
 * file=FILE has lines "ROUND A B", A and B as names or numbers of hosts. A plan has lines "SLOT A B
 * PART", in which A, the client, and B may be HOST/DEVICE, the same rail of both.
 */
int schedule_open(struct schedule *s, const struct schedule_asked *asked, const struct hosts *hosts,
		  struct fault *f);
