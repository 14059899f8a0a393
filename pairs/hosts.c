// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "hosts.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/composed.h"
#include "base/text.h"
#include "grow.h"
#include "lines.h"
#include "schedule.h"

#define BRACKETS_MAX  4 /* in one name: rack[1-4]n[1-16] */
#define DIGITS_MAX    9
#define NUMBER_MAX    999999999ul
#define NAME_MADE_MAX (2 * HOSTS_NAME_BYTES)
#define DNS_NAME_MAX  253

#define LETTERS "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

bool hosts_is_name(const char *name)
{
	size_t n = strspn(name, LETTERS "._:-");

	return n <= DNS_NAME_MAX && !name[n] && *name != '-' && *name != '.' &&
	       strpbrk(name, LETTERS) && strcasecmp(name, "all") != 0;
}

/* An address of IPv6 may say of which interface: fe80::1%eth0. */
static bool good_address(const char *text)
{
	size_t n = strcspn(text, "%"), whole = strlen(text);
	char start[HOSTS_NAME_BYTES];

	if (whole >= sizeof(start))
		return false;
	memcpy(start, text, whole + 1);
	start[n] = '\0';
	return hosts_is_name(start) && (n == whole || hosts_is_name(text + n + 1));
}

static int refuse(const char *from, const char *text, struct fault *f)
{
	char shown[64];

	text_copy(shown, sizeof(shown), text);
	return fault_raise(f, FAULT_USAGE, 0, "%s: '%s' is not the name of a host", from, shown);
}

/* Add the host NAME, the last one from then on. */
static int add_host(struct hosts *h, const char *name, const char *from, struct fault *f)
{
	struct host *more;

	if (!hosts_is_name(name) || strlen(name) >= sizeof(more->name))
		return refuse(from, name, f);
	if (h->n >= SCHEDULE_HOSTS_MAX)
		return fault_raise(f, FAULT_USAGE, 0, "%s: more than %d hosts", from,
				   SCHEDULE_HOSTS_MAX);
	more = grow(h->host, h->n, sizeof(*more));
	if (!more)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "realloc");
	h->host = more;
	h->host[h->n] = (struct host){.port = 0};
	snprintf(h->host[h->n++].name, sizeof(more->name), "%s", name);
	return 0;
}

/* An item of a list, "rack[1-4]n[1-4,07]". */
struct item {
	const char *from;         /* names the list */
	const char *end;          /* of the item */
	char name[NAME_MADE_MAX]; /* of a host, as far as it is made */
};

/*
 * Add the hosts of X, whose name has N letters so far, and AT is the rest of the item, with at most
 * DEPTH brackets.
 */
static int expand(struct hosts *h, struct item *x, size_t n, const char *at, int depth,
		  struct fault *f)
{
	size_t plain = strcspn(at, ",[");
	const char *close = at[plain] == '[' ? strchr(at, ']') : NULL;

	if (plain >= sizeof(x->name) - n || (at[plain] == '[' && (!close || !depth)))
		return refuse(x->from, at, f);
	memcpy(x->name + n, at, plain);
	n += plain;
	x->name[n] = '\0';
	x->end = at += plain;
	if (!close)
		return add_host(h, x->name, x->from, f);
	do {
		char first[DIGITS_MAX + 1], last[DIGITS_MAX + 1];
		int digits = 0;
		unsigned long v, end;

		at++;
		if (sscanf(at, "%9[0-9]%n-%9[0-9]%n", first, &digits, last, &digits) < 1)
			return refuse(x->from, at, f);
		v = strtoul(first, NULL, 10);
		end = memchr(at, '-', (size_t)digits) ? strtoul(last, NULL, 10) : v;
		if (end < v || end - v > SCHEDULE_HOSTS_MAX ||
		    (at + digits != close && at[digits] != ','))
			return refuse(x->from, at, f);
		at += digits;
		for (; v <= end; v++) {
			size_t room = sizeof(x->name) - n;
			int made = snprintf(x->name + n, room, "%0*lu", (int)strlen(first), v);

			if ((size_t)made >= room)
				return refuse(x->from, x->name, f);
			if (expand(h, x, n + (size_t)made, close + 1, depth - 1, f))
				return -1;
		}
	} while (at < close);
	return 0;
}

int hosts_expand(struct hosts *h, const char *list, const char *from, struct fault *f)
{
	struct item x = {.from = from};

	for (; *list; list = x.end + (*x.end == ','))
		if (expand(h, &x, 0, list, BRACKETS_MAX, f))
			return -1;
	return 0;
}

/* Split ADDRESS[:PORT] or [ADDRESS]:PORT, in place. Returns false if it has another form. */
static bool split_address(struct host *to, char *text)
{
	char *colon = strrchr(text, ':'), *end;
	unsigned long port = 0;

	if (*text == '[') {
		end = strchr(text, ']');
		if (!end || (end[1] && end[1] != ':'))
			return false;
		colon = end[1] ? end + 1 : NULL;
		*end = '\0';
		text++;
	} else if (colon && strchr(text, ':') != colon) {
		colon = NULL; /* an IPv6 address alone */
	}
	if (colon) {
		*colon = '\0';
		port = isdigit((unsigned char)colon[1]) ? strtoul(colon + 1, &end, 10) : 0;
		if (!port || port > UINT16_MAX || *end)
			return false;
	}
	to->port = (uint16_t)port;
	return good_address(text) && snprintf(to->address, sizeof(to->address), "%s", text) > 0;
}

static int read_host(struct hosts *h, const struct lines *l, struct fault *f)
{
	if (add_host(h, l->word[0], l->file, f))
		return -1;
	if (l->words <= 2 && (l->words == 1 || split_address(&h->host[h->n - 1], l->word[1])))
		return 0;
	lines_refuse(l, "a host and its address", f);
	return fault_fix(f, "write it as NAME or NAME ADDRESS[:PORT]");
}

bool hosts_are_listed(const char *from)
{
	return !lines_are_joined(from) && strpbrk(from, ",[") && !strchr(from, '/') &&
	       access(from, F_OK);
}

int hosts_read(struct hosts *h, const char *from, struct fault *f)
{
	struct lines l;
	int rc;

	if (hosts_are_listed(from))
		return hosts_expand(h, from, "--hosts", f);
	rc = lines_open(&l, from, f);
	if (rc && access(from, F_OK) && !lines_are_joined(from)) {
		fault_clear(f);
		fault_usage(f, "give a list of two hosts or more, or a file with a host on each line",
			    "--hosts %s is neither a list, such as a,b[1-9], nor a file", from);
	}
	while (!rc && (rc = lines_next(&l, f)) > 0)
		rc = read_host(h, &l, f);
	lines_release(&l);
	return rc;
}

/* The number in NAME that counts: the last one of its first label. Sets *WIDTH, 0: none. */
static const char *number_in(const char *name, size_t *width)
{
	const char *end = name + strcspn(name, "."), *first;

	while (end > name && !isdigit((unsigned char)end[-1]))
		end--;
	first = end;
	while (first > name && end - first < DIGITS_MAX && isdigit((unsigned char)first[-1]))
		first--;
	*width = (size_t)(end - first);
	return first;
}

/* True if OTHER is NAME with the number at FIRST, WIDTH digits of it, replaced by V. */
static bool is_numbered(const char *other, const char *name, const char *first, size_t width,
			unsigned long v)
{
	char wanted[2 * HOSTS_NAME_BYTES];

	snprintf(wanted, sizeof(wanted), "%.*s%0*lu%s", (int)(first - name), name, (int)width, v,
		 first + width);
	return strcmp(wanted, other) == 0;
}

char *hosts_list(const struct hosts *h, bool left_out)
{
	struct composed list;
	FILE *to = composed_open(&list);
	const char *before = "";
	size_t width;

	for (uint32_t i = 0, next; to && i < h->n; i = next) {
		const char *name = h->host[i].name, *first = number_in(name, &width);
		unsigned long v = width ? strtoul(first, NULL, 10) : 0, end = v;

		next = i + 1;
		if (h->host[i].left_out != left_out)
			continue;
		while (width && end < NUMBER_MAX && next < h->n &&
		       h->host[next].left_out == left_out &&
		       is_numbered(h->host[next].name, name, first, width, end + 1)) {
			next++;
			end++;
		}
		fprintf(to, "%s%.*s", before, (int)(first - name), name);
		before = ",";
		if (end > v)
			fprintf(to, "[%.*s-%0*lu]%s", (int)width, first, (int)width, end,
				first + width);
		else
			fputs(first, to);
	}
	return composed_close(&list);
}

static int compare_hosts(const void *a, const void *b)
{
	return strcmp((*(struct host *const *)a)->name, (*(struct host *const *)b)->name);
}

static int compare_name(const void *name, const void *host)
{
	return strcmp(name, (*(struct host *const *)host)->name);
}

int hosts_complete(struct hosts *h, struct fault *f)
{
	if (h->n < 2) {
		return fault_usage(f, "name two or more", "there are %u hosts", h->n);
	}
	free(h->by_name);
	h->by_name = malloc(h->n * sizeof(*h->by_name));
	if (!h->by_name)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "malloc");
	for (uint32_t i = 0; i < h->n; i++)
		h->by_name[i] = &h->host[i];
	qsort(h->by_name, h->n, sizeof(*h->by_name), compare_hosts);
	for (uint32_t i = 1; i < h->n; i++)
		if (!compare_hosts(&h->by_name[i - 1], &h->by_name[i]))
			return fault_usage(f, "name each host once", "host %s is named twice",
					   h->by_name[i]->name);
	return 0;
}

uint32_t hosts_find(const struct hosts *h, const char *name)
{
	struct host **at =
		h->n ? bsearch(name, h->by_name, h->n, sizeof(*h->by_name), compare_name) : NULL;
	uint32_t found = HOSTS_NONE;
	size_t label = strcspn(name, ".");

	if (at)
		return (uint32_t)(*at - h->host);
	for (uint32_t i = 0; i < h->n; i++) {
		const char *other = h->host[i].name;

		if (strcspn(other, ".") != label || strncmp(other, name, label) != 0)
			continue;
		if (found != HOSTS_NONE)
			return HOSTS_NONE;
		found = i;
	}
	return found;
}

void hosts_release(struct hosts *h)
{
	free(h->host);
	free(h->by_name);
	*h = (struct hosts){0};
}
