// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "plan.h"

#include <argz.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "join.h"
#include "pairs/lines.h"

/* Names, each of them once: an argz vector. */
struct set {
	char *names;
	size_t bytes;
};

static bool has(const struct set *s, const char *name)
{
	const char *at = NULL;

	while ((at = argz_next(s->names, s->bytes, at)) && strcmp(at, name) != 0)
		;
	return at;
}

static void put(struct set *s, const char *name)
{
	if (!has(s, name))
		argz_add(&s->names, &s->bytes, name);
}

/* Mark the host of the player NAME, if it is KNOWN. */
static void mark(struct hosts *known, const char *name)
{
	char host[HOSTS_NAME_BYTES];
	uint32_t at;

	text_copy(host, sizeof(host), name);
	host[strcspn(host, "/")] = '\0';
	at = known->n ? hosts_find(known, host) : HOSTS_NONE;
	if (at != HOSTS_NONE)
		known->host[at].planned = true;
}

int plan_read(struct plan *p, const char *file, struct hosts *known, struct fault *f)
{
	struct set tested = {0}, control = {0};
	struct lines l;
	int rc = lines_open(&l, file, f);

	*p = (struct plan){0};
	for (uint32_t i = 0; i < known->n; i++)
		known->host[i].planned = false;
	while (!rc && (rc = lines_next(&l, f)) > 0) {
		bool controls = strcmp(l.word[l.words - 1], "control") == 0;

		rc = l.words == 4 ? 0 : lines_refuse(&l, "SLOT FROM TO PART", f);
		if (rc)
			break;
		p->slots = (unsigned)strtoul(l.word[0], NULL, 10) + 1;
		p->tests |= strcmp(l.word[3], "test") == 0;
		mark(known, l.word[1]);
		mark(known, l.word[2]);
		put(controls ? &control : &tested, l.word[1]);
		if (controls)
			put(&control, l.word[2]);
	}
	lines_release(&l);
	for (const char *at = NULL; p->tests && (at = argz_next(tested.names, tested.bytes, at));)
		p->candidates += !has(&control, at);
	free(tested.names);
	free(control.names);
	file = rc ? NULL : realpath(file, p->file);
	p->words = file ? join_lines(file, known, f) : NULL;
	return p->words ? 0 : -1;
}

void plan_release(struct plan *p)
{
	free(p->words);
	p->words = NULL;
}
