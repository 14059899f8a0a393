// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Keeps what lines say: players, tries, notes and runs. */
#include "body.h"

#include <stdlib.h>
#include <string.h>

#include "pairs/grow.h"

#define HOST_MAX 253 /* of a DNS name */
#define RAIL_MAX 64

void body_init(struct body *b)
{
	*b = (struct body){0};
	names_init(&b->hosts, BODY_PLAYERS_MAX);
	names_init(&b->names, BODY_PLAYERS_MAX);
	names_init(&b->runs, BODY_RUNS_MAX);
	names_init(&b->texts, BODY_TEXTS_MAX);
	names_init(&b->whats, BODY_WHATS_MAX);
}

/* True if NAME can be a host or a device: nothing in it that a shell or a table takes otherwise. */
static bool is_name(const char *name, size_t most)
{
	const char *at = name;

	while ((*at >= '0' && *at <= '9') || (*at >= 'A' && *at <= 'Z') ||
	       (*at >= 'a' && *at <= 'z') || (*at && strchr("._:%@+=-", *at)))
		at++;
	return at > name && at <= name + most && *name != '-' && !*at;
}

uint32_t body_player(struct body *b, const char *host, const char *rail)
{
	uint32_t known = b->names.count, at;
	bool railed = rail && *rail;
	char name[HOST_MAX + RAIL_MAX + 2];
	struct body_player *more;

	if (!host || !is_name(host, HOST_MAX) || (railed && !is_name(rail, RAIL_MAX)))
		return BODY_NONE;
	more = grow(b->player, known, sizeof(*more));
	b->no_memory |= !more;
	if (!more)
		return BODY_NONE;
	b->player = more;
	if (railed)
		snprintf(name, sizeof(name), "%s/%s", host, rail);
	at = names_put(&b->names, railed ? name : host);
	if (at == NAMES_NONE || at < known)
		return at;
	b->player[at] = (struct body_player){.host = names_put(&b->hosts, host)};
	return at;
}

/* Add ONE of SIZE bytes to a list of COUNT, of which there may be MOST. LIST: where its address is.
 */
static int add(struct body *b, void *list, uint32_t *count, uint32_t most, const void *one,
	       size_t size)
{
	char *of;

	if (*count == most) {
		b->counts.beyond++;
		return 0;
	}
	memcpy(&of, list, sizeof(of));
	of = grow(of, *count, size);
	b->no_memory |= !of;
	if (!of)
		return -1;
	memcpy(list, &of, sizeof(of));
	memcpy(of + size * (*count)++, one, size);
	return 0;
}

int body_add(struct body *b, const struct body_try *t)
{
	return t->victim ? add(b, &b->victims, &b->victims_n, BODY_NOTES_MAX, t, sizeof(*t))
			 : add(b, &b->tries, &b->count, BODY_TRIES_MAX, t, sizeof(*t));
}

int body_add_note(struct body *b, const struct body_note *n)
{
	return add(b, &b->notes, &b->notes_n, BODY_NOTES_MAX, n, sizeof(*n));
}

uint32_t body_run(struct body *b, const char *name)
{
	uint32_t known = b->runs.count, at = names_put(&b->runs, name);

	if (at != NAMES_NONE && at == known)
		b->run[at] = (struct body_run){.what = BODY_NO_WHAT};
	return at;
}

void body_release(struct body *b)
{
	names_release(&b->hosts);
	names_release(&b->names);
	names_release(&b->runs);
	names_release(&b->texts);
	names_release(&b->whats);
	free(b->player);
	free(b->tries);
	free(b->notes);
	free(b->victims);
	*b = (struct body){0};
}
