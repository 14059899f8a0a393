// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What --prove concludes, in words and in JSON. */
#include <math.h>

#include "base/text.h"
#include "plan/prove.h"
#include "proto/fields.h"

/* A change's name in documents, and what limits a run that it makes faster. */
static const struct {
	const char *name, *what;
} changes[PROVE_CHANGES] = {
	[PROVE_BASE] = {"base", ""},
	[PROVE_WINDOW] = {"window", "the window"},
	[PROVE_OUTS] = {"outs", "the READs or atomics in flight"},
	[PROVE_QPS] = {"qps", "what one QP, on its one way through the network, does"},
	[PROVE_SIZE] = {"size", "the rate of messages"},
	[PROVE_RECEIVES] = {"receives", "the receive queue"},
	[PROVE_ORDER] = {"order", "the order of PCIe writes"},
	[PROVE_FOOTPRINT] = {"footprint", "memory that no cache holds"},
	[PROVE_THREADS] = {"threads", "the CPU of a single thread"},
	[PROVE_LIST] = {"list", "what posting each message costs"},
	[PROVE_TOGETHER] = {"together", "both"},
};

static const char *what_of(const struct prove *p, const struct prove_try *t)
{
	return changes[t - p->try].what;
}

/* "-q 4 -t 32 makes it 1.93 ± 0.02 times faster" */
static void add_ratio(const struct prove *p, const struct prove_try *t, char *buf, size_t size)
{
	text_add(buf, size, "%s makes it %.2f \302\261 %.2f times as fast", t->option, t->ratio,
		 t->half);
	if (t->against != PROVE_BASE)
		text_add(buf, size, " as %s", p->try[t->against].option);
}

/* What the second best does, and both. */
static void add_second(const struct prove *p, const struct prove_try *best, char *buf, size_t size)
{
	const struct prove_try *next = prove_best(p, best), *both = &p->try[PROVE_TOGETHER];

	if (!next)
		return;
	text_add(buf, size, "; then by %s: ", what_of(p, next));
	add_ratio(p, next, buf, size);
	if (both->so == PROVE_BETTER)
		text_add(buf, size, "; both: %.2f \302\261 %.2f", both->ratio, both->half);
}

/* Nothing but larger messages helps. */
static void add_messages(const struct prove *p, char *buf, size_t size)
{
	const struct prove_try *larger = &p->try[PROVE_SIZE], *list = &p->try[PROVE_LIST],
			       *threads = &p->try[PROVE_THREADS];

	text_add(buf, size,
		 "the rate of messages: with four times the size (%s) it is %.2f \302\261 %.2f "
		 "times as fast",
		 larger->option, larger->ratio, larger->half);
	if (threads->so >= PROVE_SAME && list->so >= PROVE_SAME)
		text_add(buf, size,
			 "; threads and lists do not help: it may be an adapter's, or the "
			 "network's");
	else
		text_add(buf, size, "; cannot tell whether it is an adapter's or a CPU's");
}

/* The changes that are STATE, with commas. Returns how many. */
static unsigned add_changes(const struct prove *p, bool open, char *buf, size_t size)
{
	unsigned count = 0;

	for (enum prove_change c = PROVE_BASE + 1; c < PROVE_TOGETHER; c++) {
		const struct prove_try *t = &p->try[c];

		if (t->planned && !t->not_tried && (t->so == PROVE_OPEN) == open)
			text_add(buf, size, "%s%s", count++ ? ", " : "", t->option);
	}
	return count;
}

bool prove_is_unmoved(const struct prove *p)
{
	char text[256] = "";

	return !add_changes(p, true, text, sizeof(text)) &&
	       add_changes(p, false, text, sizeof(text)) && !prove_best(p, NULL) &&
	       p->try[PROVE_SIZE].so != PROVE_BETTER;
}

/* What each end's adapter reaches with itself, and what follows for a rate that no change moves. */
static void add_loopbacks(const struct prove *p, char *buf, size_t size)
{
	const struct prove_try *t = &p->try[PROVE_WINDOW];
	double client = p->loopback_gbps[0], server = p->loopback_gbps[1];
	double base = t->windows ? t->window[t->windows - 1].against_gbps : NAN;
	double least = fmin(client, server);

	if (!(least > 0))
		return;
	text_add(buf, size, "; each adapter with itself: the client's %.3g Gb/s, the server's %.3g",
		 client, server);
	if (least > PROVE_HELPS_LITTLE * base)
		text_add(buf, size, ": not by one host alone, but the network or both at once");
	else if (least < (1 + PROVE_MARGIN) * base &&
		 fmax(client, server) > PROVE_HELPS_LITTLE * base)
		text_add(buf, size, ": may be by the %s's host",
			 client < server ? "client" : "server");
}

const char *prove_text(const struct prove *p, char *buf, size_t size)
{
	const struct prove_try *best = prove_best(p, NULL), *larger = &p->try[PROVE_SIZE];
	enum finding_strength strength;
	char text[256] = "";
	enum finding_code code = prove_limit(p, &strength);

	buf[0] = '\0';
	if (code != LIMIT_UNKNOWN) {
		text_add(buf, size, "%slimited by ", strength == FINDING_IS ? "" : "may be ");
		if (best) {
			text_add(buf, size, "%s: ", what_of(p, best));
			add_ratio(p, best, buf, size);
			add_second(p, best, buf, size);
		} else {
			add_messages(p, buf, size);
		}
		if (strength != FINDING_IS)
			text_add(buf, size, "; a longer --prove may be sure");
	} else if (add_changes(p, true, text, sizeof(text)) ||
		   !add_changes(p, false, text, sizeof(text))) {
		text_add(buf, size,
			 "cannot tell what limits it: there are too few windows in which no thread "
			 "lacked its CPU, or their rates vary too much%s%s; use a longer --prove",
			 text[0] ? ", with " : "", text);
	} else if (larger->so == PROVE_BETTER) {
		text_add(buf, size, "nothing helps but larger messages, a little: ");
		add_ratio(p, larger, buf, size);
	} else {
		text_add(buf, size,
			 "no single change helps (%s): it is the path, a port, PCIe, a host's "
			 "memory, or two limits at once",
			 text);
		add_loopbacks(p, buf, size);
	}
	return buf;
}

const char *prove_so_name(const struct prove_try *t)
{
	static const char *const names[] = {"cannot_tell", "faster", "not_faster", "slower"};

	return t->not_tried ? "not_tried" : names[t->so];
}

static json_t *try_json(const struct prove *p, enum prove_change c)
{
	const struct prove_try *t = &p->try[c];
	json_t *windows = json_array();

	for (unsigned i = 0; i < t->windows; i++)
		json_array_append_new(windows,
				      json_pack("{s:f, s:f}", "bandwidth_gbps", t->window[i].gbps,
						"against_gbps", t->window[i].against_gbps));
	return json_pack("{s:s, s:s, s:s, s:s, s:s?, s:o, s:o, s:o}", "change", changes[c].name,
			 "options", t->option, "against", changes[t->against].name, "so",
			 prove_so_name(t), "not_tried", t->not_tried, "times",
			 json_known_or_null(t->ratio), "plus_minus",
			 json_number_or_null(t->ratio > 0 ? t->half : NAN), "windows", windows);
}

json_t *prove_json(const struct prove *p)
{
	json_t *tries = json_array();
	enum finding_strength strength;
	enum finding_code code = prove_limit(p, &strength);
	char text[1024];

	for (enum prove_change c = PROVE_BASE + 1; c < PROVE_CHANGES; c++)
		if (p->try[c].planned)
			json_array_append_new(tries, try_json(p, c));
	return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "bound_by", finding_name(code),
			 "strength", finding_strength_name(strength), "text",
			 prove_text(p, text, sizeof(text)), "client_loopback_gbps",
			 json_known_or_null(p->loopback_gbps[0]), "server_loopback_gbps",
			 json_known_or_null(p->loopback_gbps[1]), "changes", tries);
}
